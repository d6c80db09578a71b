// Undoing a tree: every completed step of every member that has an undo, in exact reverse order of execution.
//
// One undo at a time in one tree. It starts when no member is busy any more; first one batch marks every unfinished member
// failed and adds the steps that were interrupted, so that from then on the durable records alone say what is left to do and
// a crash at any point only repeats the newest undo. A failing undo is retried with backoff until it succeeds.
#pragma once

#include <functional>

#include "procedure/core.h"

namespace ratchet::procedure {

// A member has failed (its record says so). Settle of any member goes on from here.
void BeginRollback(Session& session, ProcNode& root, const Error& error);

// Does the next thing of the undoing, if it can be done now. The root's tree must be failing.
void ContinueRollback(Session& session, ProcNode& root);

// An operator wants the tree of `pid` undone. Queues behind what the root is doing; `done` when the failure is on record.
void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done);
// For Settle: carries an abort request of a root out, or says why not. True: a commit is on its way.
bool ApplyAbort(Session& session, ProcNode& root);
// For Settle: answers what was asked of a root that can take no abort any more, or needs none.
void AnswerAbort(Session& session, ProcNode& root, const Status& answer);

// An operator has given up a part of the undoing: goes on with what is left of it.
void ForgetUndo(Session& session, ProcNode& root);
// The member's newest undo is on record as done. Nothing is left to drop when it was given up while it ran.
void DropNewestUndo(ProcNode& member);
// Whether nothing of what the member has done is left to undo: given up, if it runs an undo at this moment.
[[nodiscard]] bool IsGivenUp(const ProcNode& member);
// The member, which is not busy, leaves its turn and its backoff.
void LeaveUndo(Session& session, ProcNode& member);
// At load, for a tree with failed members: who they are tells where the undoing stands.
void RestoreRollback(ProcNode& root);

}  // namespace ratchet::procedure
