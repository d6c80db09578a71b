// Publishes the events of a procedure's life: counters, log, activity stream, the procedure's own hooks, listeners, and
// the waiting callers.
//
// Hooks and listeners are called after the lock is released, one at a time over the whole executor, in the order in
// which things became true (ExecutorLock::Notify). An exception is logged and counted for the procedure's type
// (TypeMetrics), and affects no other call.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// A new node is durable and in the tree.
void NoteAdded(ExecutorLock& held, const ProcNode& node);
// A master has loaded the procedure: notifies its listeners.
void NoteLoaded(ExecutorLock& held, const ProcNode& node);
// Its final state is durable; called once per procedure.
void NoteEnded(ExecutorLock& held, ProcNode& node);

}  // namespace ratchet::procedure
