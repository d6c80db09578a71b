// An operator, or the breaking of a ring of locks, wants a tree undone.
#pragma once

#include <functional>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Executor::Abort. Queues behind what the root is doing; `done` when the failure is on record.
void AbortTree(Core& core, ProcId pid, OperatorNote note, std::function<void(Status)> done);
// The root is free: carries the abort out, or says why not. True: a commit is on its way.
[[nodiscard]] bool ApplyAbort(Session& session, ProcNode& root);

}  // namespace ratchet::procedure
