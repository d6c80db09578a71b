// Log lines of procedures in HBase's form, so that one grep for a pid tells its story:
// "Start pid=1179, ppid=1176, state=RUNNABLE:OPEN; TransitRegionState table=t, region=56f9..., ASSIGN; rit=OPENING"
#pragma once

#include <string>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// "pid=7, ppid=3, state=RUNNABLE:OPEN; TransitRegionState table=t, ..."
[[nodiscard]] std::string LogForm(const ProcNode& node);

void LogStart(Session& session, const ProcNode& node);
void LogSpawned(Session& session, const ProcNode& parent, const std::vector<ProcId>& children);
void LogRetry(Session& session, const ProcNode& node, Millis delay);
void LogFailed(Session& session, const ProcNode& node, const Error& error);
void LogParked(Session& session, const ProcNode& node);
void LogUndone(Session& session, const ProcNode& node, StepNo step, const Error* error);
void LogFinished(Session& session, const ProcNode& node, std::int64_t took_ms);

}  // namespace ratchet::procedure
