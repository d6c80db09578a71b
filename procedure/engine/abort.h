// Aborts: an operator, the breaking of a deadlock, or the end of a deadline requests that a tree be undone.
#pragma once

#include <functional>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::Abort. The request waits until the root is free; `done` is called when the failure is durable.
void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done);
// The deadline of a root is over: fails it with kTimeout and the class kDeadlineClass, in the same way. A parked root
// stays parked, so that its undo waits for the operator.
void FailTree(Core& core, ProcId pid, Millis deadline, std::function<void(Status)> done);
// The root is free: carries the abort out, or refuses it with a reason. Returns true if a commit is in progress.
[[nodiscard]] bool ApplyAbort(ExecutorLock& held, ProcNode& root);

}  // namespace ratchet::procedure
