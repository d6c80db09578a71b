// Where a procedure stands: in the run queue, in line for a lock, in a wait; and which procedure keeps locks for its
// children.
#pragma once

#include <vector>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Gives a new node its place in the scheduler.
void BindToScheduler(Session& session, ProcNode& node);
// Puts the node into the run queue.
void Enqueue(Session& session, ProcNode& node, bool front);
// Out of every line, queue and wait; the node must not be busy.
void LeaveEverything(Session& session, ProcNode& node);

// The lock manager has just served these: those that stood in line go on.
void ReadyGranted(Session& session, const std::vector<ProcId>& granted);
// Marks whether `node` keeps locks of succeeded children (S16), and counts those that do.
void SetKeeps(Session& session, ProcNode& node, bool keeps);

}  // namespace ratchet::procedure
