// Where a procedure waits: for an event, asynchronous work or the end of a backoff; in the run queue and in the queue
// of a lock; or behind a pause.
#pragma once

#include <vector>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Begins and ends waits of a procedure for an event, asynchronous work or the end of a backoff.

// Begins the wait of the node's next action, unless it is in progress. Returns false if it is over already.
[[nodiscard]] bool BeginWait(ExecutorLock& held, ProcNode& node);
// Begins the backoff before the next try of an undo.
void WaitForBackoff(ExecutorLock& held, ProcNode& node, Millis delay);
// True if the node has a wait in the wait table, or a timer.
[[nodiscard]] bool IsWaiting(const ProcNode& node);

// Ends an Await, an AsyncCall or a backoff early. Returns false if the node was not in such a wait.
bool EndWait(ExecutorLock& held, ProcNode& node, bool timed_out);
// A result of asynchronous work of `pid` has arrived.
void WakeOnce(Core& core, ProcId pid);
// The step or undo of a node that stays in progress continues with the next worker.
void ResumeRun(ExecutorLock& held, ProcNode& node);

// For a free node: it no longer needs to wait, so it runs next.
void CutWaitShort(ExecutorLock& held, ProcNode& node);
// Leaves the wait table, cancels the timer, drops the ticket.
void LeaveWait(ExecutorLock& held, ProcNode& node);

// The queues that a procedure is in: the run queue, the queue of a lock, a wait. The functions also record which
// procedure inherits locks for its children.

// Binds a new node to its queue in the scheduler. `found`: its locks and place; null: they are found now.
void BindToScheduler(ExecutorLock& held, ProcNode& node, const FoundLocks* found = nullptr);
// Puts the node into the run queue.
void Enqueue(ExecutorLock& held, ProcNode& node, bool front);
// Takes the node out of every queue and wait; the node must not be busy.
void LeaveEverything(ExecutorLock& held, ProcNode& node);

// Withdraws the node's request for locks, if it waits for them; adds those that are granted by that to `granted`.
void CancelLocks(ExecutorLock& held, ProcNode& node, std::vector<ProcId>& granted);
// The lock manager has just granted these: the ones that waited in a queue are ready.
void ReadyGranted(ExecutorLock& held, const std::vector<ProcId>& granted);
// Records whether `node` keeps locks of succeeded children, S16 (parent keeps child locks), and counts such nodes.
void SetInheritsChildLocks(ExecutorLock& held, ProcNode& node, bool inherits);

// Decides which procedures a pause covers. Under the executor's lock.

// True if `scope` covers `node`. For a busy node the wanted locks are taken from its stored data, not from its object.
[[nodiscard]] bool Covers(const HeldState& held, const PauseScope& scope, const ProcNode& node);

// Returns the pause that covers `node`, null when there is none. The node need not be in the tree yet. For a
// busy node the wanted locks are taken from its stored data, not from its object.
[[nodiscard]] const PauseInfo* PausedBy(const HeldState& held, const ProcNode& node);

}  // namespace ratchet::procedure
