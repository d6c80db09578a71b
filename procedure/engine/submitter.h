// New roots: nonce, checks, locks, insert.
#pragma once

#include <functional>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::SubmitAsync.
void SubmitAsync(Core& core, ProcedurePtr procedure, SubmitOptions options, std::function<void(Result<ProcId>)> done);

}  // namespace ratchet::procedure
