// Log lines of procedures in HBase's form, so that one grep for a pid shows its history:
// "Start pid=1179, ppid=1176, state=RUNNABLE:OPEN; TransitRegionState table=t, region=56f9..., ASSIGN; rit=OPENING"
#pragma once

#include <string>
#include <vector>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// "pid=7, ppid=3, state=RUNNABLE:OPEN; TransitRegionState table=t, ..."
[[nodiscard]] std::string LogForm(const ProcNode& node);

// Called by the worker that runs the first step of `node`, without the executor's lock, because the line has details
// from the environment (Procedure::DescribeStart).
void LogStart(const Core& core, const ProcNode& node);
// Prints each child in its log form; of more than 20 children the first 20 and their number.
void LogSpawned(ExecutorLock& held, const ProcNode& parent, const std::vector<ProcNode*>& children);
void LogRetry(ExecutorLock& held, const ProcNode& node, Millis delay);
void LogFailed(ExecutorLock& held, const ProcNode& node, const Error& error);
void LogParked(ExecutorLock& held, const ProcNode& node);
void LogUndone(ExecutorLock& held, const ProcNode& node, StepNo step, const Error* error);
void LogFinished(ExecutorLock& held, const ProcNode& node, std::int64_t took_ms);

}  // namespace ratchet::procedure
