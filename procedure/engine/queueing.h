// The queues that a procedure is in: the run queue, the queue of a lock, a wait. The functions also record which
// procedure inherits locks for its children.
#pragma once

#include <vector>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Binds a new node to its queue in the scheduler.
void BindToScheduler(ExecutorLock& held, ProcNode& node);
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

}  // namespace ratchet::procedure
