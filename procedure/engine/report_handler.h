// Reports from outside: folded into a copy of the procedure, committed, swapped in, and only then answered.
#pragma once

#include <functional>
#include <string>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::Deliver. The report waits until the procedure is free, S11 (one commit per pid).
void Deliver(Core& core, ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done);

// The node is free: folds all reports that have gathered in one commit.
void StartFold(ExecutorLock& held, ProcNode& node);

}  // namespace ratchet::procedure
