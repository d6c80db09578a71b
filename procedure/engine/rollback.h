// Rolls back a tree: every completed step of every member that has an undo, in exact reverse order of execution.
//
// One undo runs at a time in one tree. The rollback starts when no member is busy. First one batch marks every
// unfinished member failed and adds the interrupted steps. From then on the durable records alone show which undos
// remain, and a crash at any point only repeats the newest undo. A failing undo is retried with backoff until it
// succeeds.
#pragma once

#include <string>

#include "procedure/engine/executor_lock.h"
#include "procedure/engine/step_run.h"

namespace ratchet::procedure {

// A member has failed (its record shows that): the rollback begins, and continues whenever a member is free
// (ExecutorLock::ReadyUndo).
void BeginRollback(ExecutorLock& held, ProcNode& root, const Error& error);

// Called for ExecutorLock::ReadyUndo: does the next part of the rollback, if it can be done now. The root's tree must
// be failing.
void ContinueRollback(ExecutorLock& held, ProcNode& root);

// A worker has ended the undo that it took: starts the next undo if this one succeeded, else the same one after a
// backoff.
void ConcludeUndo(ExecutorLock& held, ProcNode& node, StepRun& run, const Status& status, std::string data);

// An operator has abandoned a part of the rollback: continues with the rest.
void ForgetUndo(ExecutorLock& held, ProcNode& root);
// The member, which is not busy, leaves the queue of undos or its backoff.
void LeaveUndo(ExecutorLock& held, ProcNode& member);
// At load, for a tree with failed members: rebuilds the progress of the rollback from their records.
void RestoreRollback(ProcNode& root);

}  // namespace ratchet::procedure
