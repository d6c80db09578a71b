// How a procedure waits for an event, asynchronous work or the end of a backoff, and what ends the wait.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Begins the wait of the node's intent, if it is not under way. False: it is over already.
[[nodiscard]] bool BeginWait(Session& session, ProcNode& node);
// Begins the backoff before the next try of an undo.
void WaitForBackoff(Session& session, ProcNode& node, Millis delay);
// The node has a wait in the wait table, or a timer.
[[nodiscard]] bool IsWaiting(const ProcNode& node);

// Ends an Await, a Once or a backoff early. False: it was in none.
bool EndWait(Session& session, ProcNode& node, bool timed_out);
// A piece of asynchronous work of `pid` has arrived.
void WakeOnce(Core& core, ProcId pid);

// For a node that is free: what it waits for has lost its meaning, it wants to run.
void CutWaitShort(Session& session, ProcNode& node);
// Out of the wait table, without a timer, without a ticket.
void LeaveWait(Session& session, ProcNode& node);

}  // namespace ratchet::procedure
