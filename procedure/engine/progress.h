// Decides what a procedure does next when it is free: the one place that enforces "one thing at a time per procedure".
//
// The other parts only report that a procedure is free (ExecutorLock::Ready) or that a tree's rollback can continue
// (ExecutorLock::ReadyUndo). This part decides what comes next, once, before the lock is released. There is no
// recursion: a procedure that becomes free is added to the list.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Runs until nothing is ready: free procedures first, then deadlocks that were found, then the rollback of trees. So a
// rollback begins only when no member of the tree is busy.
void DrainReady(ExecutorLock& held);

}  // namespace ratchet::procedure
