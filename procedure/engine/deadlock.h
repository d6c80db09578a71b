// The one kind of deadlock that the order of locks cannot exclude, and its cure.
//
// S15 keeps a single line of descent from waiting backwards. But S16 lets a child that has succeeded leave its locks
// with its parent, while a sibling still waits for an earlier one: the tree then waits backwards, and two such trees
// can wait for each other. Only a tree before its point of no return keeps such locks, so it can be undone: the
// youngest one in the ring is, with the ring named in its error. The check runs only while some tree keeps locks of
// succeeded children.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

// `node` has just begun to wait for a lock, or what it waits for has changed hands. The root that gives way is ready.
void BreakRing(Session& session, ProcNode& node);
// The same for all whose wait has changed: a waiter behind another one now may stand in a ring that was not there when
// it came.
void BreakMovedRings(Session& session);

// Locks of a succeeded child have come to `node`: its waiting descendants may wait backwards now, which BreakMovedRings
// looks at.
void CheckRingsBelow(Session& session, ProcNode& node);

}  // namespace ratchet::procedure
