// Verbs with which an operator acts on a procedure that the rules have left stuck. Each verb is durable, with operator
// and reason, and waits until the procedure is free, S11 (one commit per pid). No verb makes the cluster consistent by
// itself: after a bypass the host's reconciler has to repair.
#pragma once

#include <functional>
#include <string>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

using VerbDone = std::function<void(Status)>;

// `pid` and its ancestors end as SUCCESS without running another step or undo; its locks are released. With `recursive`
// its unfinished descendants end too; without it, unfinished children are a reason to refuse. Also ends an undo that
// never succeeds.
void BypassProcedure(Core& core, ProcId pid, bool recursive, OperatorNote note, VerbDone done);
// No step or undo of `pid` runs until Unpark. Its children continue.
void ParkProcedure(Core& core, ProcId pid, OperatorNote note, VerbDone done);
void UnparkProcedure(Core& core, ProcId pid, OperatorNote note, VerbDone done);
// The procedure continues with `step` (and is unparked). Only for a procedure without unfinished children.
void RerunProcedure(Core& core, ProcId pid, StepNo step, OperatorNote note, VerbDone done);

// The node is free: applies the next verb. Returns true if a commit is in progress.
[[nodiscard]] bool ApplyVerb(ExecutorLock& held, ProcNode& node);
// The node is free: a bypassed procedure without unfinished children ends here. Returns true if its commit is in
// progress.
[[nodiscard]] bool EndIfBypassed(ExecutorLock& held, ProcNode& node);

// Aborts: an operator, the breaking of a deadlock, or the end of a deadline requests that a tree be undone.

// Executor::Abort. The request waits until the root is free; `done` is called when the failure is durable.
void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done);
// The root is free: carries the abort out, or refuses it with a reason. Returns true if a commit is in progress.
[[nodiscard]] bool ApplyAbort(ExecutorLock& held, ProcNode& root);

// The deadline of a tree: a time after which its root fails, if it can still be undone.

// Starts the timer of a root that was submitted with a deadline (SubmitOptions::deadline), at its submission and at
// each load. Does nothing for other nodes.
void ArmDeadline(ExecutorLock& held, ProcNode& node);
// The root has finished.
void DisarmDeadline(ExecutorLock& held, ProcNode& node);

}  // namespace ratchet::procedure
