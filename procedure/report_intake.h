// Reports from outside: folded into a copy of the procedure, committed, swapped in, and only then answered.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "procedure/core.h"

namespace ratchet::procedure {

// Executor::Deliver. Queues behind whatever the procedure is doing (S11).
void Deliver(Core& core, ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done);

// Takes everything that has gathered, folds it in one commit, and settles. The node must be free.
void StartFold(Session& session, ProcNode& node);

// Answers what has gathered as stale: "pid 7 <why>".
void RefuseReports(Session& session, ProcNode& node, std::string_view why);

}  // namespace ratchet::procedure
