// How a procedure waits for an event, asynchronous work or the end of a backoff, and what ends the wait.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Starts the wait that the node wants. False: it is over already.
[[nodiscard]] bool Arm(Session& session, ProcNode& node);
// Starts the backoff `node.delay` before the next try of an undo.
void WaitForBackoff(Session& session, ProcNode& node);

// Ends an Await, a Once or a backoff early. False: it was in none.
bool EndWait(Session& session, ProcNode& node, bool timed_out);
// A piece of asynchronous work of `pid` has arrived.
void WakeOnce(Core& core, ProcId pid);

// For a node that is free: what it waits for has lost its meaning, it wants to run.
void CutWaitShort(Session& session, ProcNode& node);
// Out of the wait table, without a timer.
void Disarm(Session& session, ProcNode& node);

}  // namespace ratchet::procedure
