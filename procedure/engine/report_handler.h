// Reports from outside: folded into a copy of the procedure, committed, swapped in, and only then answered.
#pragma once

#include <functional>
#include <string>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Executor::Deliver. Queues behind whatever the procedure is doing (S11).
void Deliver(Core& core, ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done);

// The node is free: takes everything that has gathered and folds it in one commit.
void StartFold(Session& session, ProcNode& node);

}  // namespace ratchet::procedure
