// Events of procedures as they occur: the activity stream, its readers, and the log lines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Adds events to the activity stream. Under the executor's lock, after the commit that made the event true.

void Emit(ExecutorLock& held, ActivityKind kind, const ProcNode& node, StepNo step, std::string detail = {});
// An event of the procedure's current state.
inline void Emit(ExecutorLock& held, ActivityKind kind, const ProcNode& node, std::string detail = {}) {
  Emit(held, kind, node, node.durable.step, std::move(detail));
}
// An event that concerns no single procedure.
void Emit(ExecutorLock& held, ActivityKind kind, std::string detail);

// Readers of the activity stream that wait for the next entry: they do not poll, and no thread waits.
//
// The first entry starts a short delay, so that a busy stream makes few large answers and not one for each event. The
// answers are made on the timers' thread, not on the one that completes commits.

// Executor::WatchActivity.
void WatchActivity(Core& core, std::uint64_t after, std::size_t limit, Millis patience,
                   std::function<void(ActivityBatch)> done);

// An entry was added to the stream.
void ActivityAdded(ExecutorLock& held);

// The executor stops: answers waiting readers with the entries that exist.
void AnswerWatches(ExecutorLock& held);

// Log lines of procedures in HBase's form, so that one grep for a pid shows its history:
// "Start pid=1179, ppid=1176, state=RUNNABLE:OPEN; TransitRegionState table=t, region=56f9..., ASSIGN; rit=OPENING"

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
