// The deadline of a tree: a time after which its root fails, if it can still be undone.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Starts the timer of a root that was submitted with a deadline (SubmitOptions::deadline), at its submission and at
// each load. Does nothing for other nodes.
void ArmDeadline(ExecutorLock& held, ProcNode& node);
// The root has finished.
void DisarmDeadline(ExecutorLock& held, ProcNode& node);

}  // namespace ratchet::procedure
