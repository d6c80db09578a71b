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

// Finds and breaks the one kind of deadlock that the order of locks cannot exclude.
//
// S15 (total lock order) keeps a single line of descent from waiting against the order. But S16 (parent keeps child
// locks) lets a succeeded child leave its locks with its parent, while a sibling still waits for an earlier one. The
// tree then waits against the order, and two such trees can wait for each other. Only a tree before its point of no
// return keeps such locks, so it can be undone: the youngest tree in the cycle is undone, and its error names the
// cycle. The check runs only while some tree keeps locks of succeeded children.

// Call when `node` has begun to wait for a lock, or when the holder that it waits for has changed. Readies the root
// that is undone.
void BreakDeadlock(ExecutorLock& held, ProcNode& node);
// Runs the check for all waiters whose wait has changed: a waiter that is now blocked by another one may be in a cycle
// that did not exist when it began to wait.
void BreakMovedDeadlocks(ExecutorLock& held);

// Locks of a succeeded child have come to `node`, so its waiting descendants may wait against the order.
// BreakMovedDeadlocks checks them.
void CheckRingsBelow(ExecutorLock& held, ProcNode& node);

}  // namespace ratchet::procedure
