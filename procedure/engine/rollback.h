// Undoing a tree: every completed step of every member that has an undo, in exact reverse order of execution.
//
// One undo at a time in one tree. It starts when no member is busy any more; first one batch marks every unfinished
// member failed and adds the steps that were interrupted, so that from then on the durable records alone say what is
// left to do and a crash at any point only repeats the newest undo. A failing undo is retried with backoff until it
// succeeds.
#pragma once

#include <string>

#include "procedure/engine/step_run.h"
#include "procedure/session/session.h"

namespace ratchet::procedure {

// A member has failed (its record says so): the undoing goes on when a member is free (Session::ReadyUndo).
void BeginRollback(Session& session, ProcNode& root, const Error& error);

// Session::ReadyUndo comes to this: does the next thing of the undoing, if it can be done now. The root's tree must be
// failing.
void ContinueRollback(Session& session, ProcNode& root);

// A worker has come to the end of the undo that it took: the next one when it has succeeded, the same again after a
// backoff if not.
void ConcludeUndo(Session& session, ProcNode& node, StepRun& run, const Status& status, std::string data);

// An operator has given up a part of the undoing: goes on with what is left of it.
void ForgetUndo(Session& session, ProcNode& root);
// The member, which is not busy, leaves its turn and its backoff.
void LeaveUndo(Session& session, ProcNode& member);
// At load, for a tree with failed members: they tell where the undoing stands.
void RestoreRollback(ProcNode& root);

}  // namespace ratchet::procedure
