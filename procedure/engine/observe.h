// Copies of the executor's state for humans and tools.
#pragma once

#include <string>
#include <vector>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::AwaitedAttempt.
[[nodiscard]] Result<std::uint32_t> AwaitedAttemptOf(const HeldState& held, ProcId pid);
[[nodiscard]] ProcedureInfo InfoOf(const HeldState& held, const ProcNode& node);
[[nodiscard]] WaitingOn WaitingOf(const HeldState& held, const ProcNode& node);
// The procedures of this queue whose steps run now, by pid.
[[nodiscard]] std::vector<ProcId> RunningIn(const HeldState& held, const RunQueue* queue);
// In a tree that is being undone: the member whose undo comes next. Null: `node` itself, or none yet.
[[nodiscard]] const ProcNode* NextToBeUndone(const ProcNode& node);
[[nodiscard]] ProcedureResult ResultOf(const ProcNode& node);
[[nodiscard]] std::vector<StepHistoryEntry> HistoryOf(const ProcNode& node);
// The procedures that `node` waits for: unfinished children, holders of its lock, and the waiters ahead of it in the
// queue.
[[nodiscard]] std::vector<ProcId> WaitsFor(const HeldState& held, const ProcNode& node);
[[nodiscard]] std::vector<LimitInfo> LimitsOf(const HeldState& held);
[[nodiscard]] WaitForGraph BuildWaitForGraph(const HeldState& held);
// Returns every cycle, once, starting with its lowest pid.
[[nodiscard]] std::vector<std::vector<ProcId>> FindCycles(const std::vector<WaitEdge>& edges);

}  // namespace ratchet::procedure
