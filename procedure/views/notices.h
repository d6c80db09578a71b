// What the world is told of a procedure's life: counters, log, activity stream, the procedure's own hooks, listeners,
// and the waiting callers.
//
// Hooks and listeners are called after the lock is gone, one at a time over the whole executor, in the order in which
// things became true (Session::Tell). One that throws is logged, counted for its type (TypeMetrics), and harms no other
// else.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

// A new node is durable and in the tree.
void NoteAdded(Session& session, const ProcNode& node);
// A master that has loaded it tells its listeners.
void NoteLoaded(Session& session, const ProcNode& node);
// Its final state is durable; once per procedure.
void NoteEnded(Session& session, ProcNode& node);

}  // namespace ratchet::procedure
