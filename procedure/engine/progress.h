// What a procedure does next when it is free: one place for "one thing at a time per procedure".
//
// Every part says only that a procedure goes on (Session::Ready) or that a tree's undoing does (Session::ReadyUndo);
// what comes next is decided here, once, before the session lets go of the lock. Nothing here is called back into: what
// one procedure sets free is added to the list.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Until nothing is ready: free procedures first, then rings of locks that have come to light, then the undoing of
// trees, so that an undoing begins only when every member has come to rest.
void DrainReady(Session& session);

}  // namespace ratchet::procedure
