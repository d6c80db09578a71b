// Begins and ends waits of a procedure for an event, asynchronous work or the end of a backoff.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

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

}  // namespace ratchet::procedure
