// Views of procedures: copies of the state for humans and tools, the wait-for graph, the workers, and the
// calls of hooks and listeners.
#pragma once

#include <string>
#include <vector>

#include "procedure/api/views.h"
#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Copies of the executor's state for humans and tools.

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

// Watches for workers that are held up by slow steps and adds workers meanwhile.

[[nodiscard]] WorkersInfo LookAtWorkers(const HeldState& held);

// Called every stuck_check_interval: logs steps that run longer than stuck_threshold; when at least half of the workers
// are stuck and work is waiting, asks the pool for one more.
void CheckStuckWorkers(ExecutorLock& held);

// Publishes the events of a procedure's life: counters, log, activity stream, the procedure's own hooks, listeners, and
// the waiting callers.
//
// Hooks and listeners are called after the lock is released, one at a time over the whole executor, in the order in
// which things became true (ExecutorLock::Notify). An exception is logged and counted for the procedure's type
// (TypeMetrics), and affects no other call.

// A new node is durable and in the tree.
void NoteAdded(ExecutorLock& held, const ProcNode& node);
// A master has loaded the procedure: notifies its listeners.
void NoteLoaded(ExecutorLock& held, const ProcNode& node);
// Its final state is durable; called once per procedure.
void NoteEnded(ExecutorLock& held, ProcNode& node);

}  // namespace ratchet::procedure
