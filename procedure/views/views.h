// Copies of the executor's state for humans and tools.
#pragma once

#include <string>
#include <vector>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Executor::AwaitedAttempt.
[[nodiscard]] Result<std::uint32_t> AwaitedAttemptOf(Session& session, ProcId pid);
[[nodiscard]] ProcedureInfo InfoOf(Session& session, const ProcNode& node);
[[nodiscard]] WaitingOn WaitingOf(Session& session, const ProcNode& node);
// Whose steps of this queue run at this moment, by pid.
[[nodiscard]] std::vector<ProcId> RunningIn(Session& session, const RunQueue* queue);
// Of a tree that is being undone: the member whose undo comes next. Null: `node` itself, or none yet.
[[nodiscard]] const ProcNode* NextToBeUndone(const ProcNode& node);
[[nodiscard]] ProcedureResult ResultOf(const ProcNode& node);
[[nodiscard]] std::vector<StepHistoryEntry> HistoryOf(const ProcNode& node);
// What `node` cannot go on without: unfinished children, holders of its lock, and the waiters ahead of it in line.
[[nodiscard]] std::vector<ProcId> WaitsFor(Session& session, const ProcNode& node);
[[nodiscard]] std::vector<LimitInfo> LimitsOf(Session& session);
[[nodiscard]] WaitForGraph BuildWaitForGraph(Session& session);
// Every ring, once, starting with its lowest pid.
[[nodiscard]] std::vector<std::vector<ProcId>> FindCycles(const std::vector<WaitEdge>& edges);

}  // namespace ratchet::procedure
