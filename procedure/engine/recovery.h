// Rebuilds trees, locks, nonces and queued work from the store's records. Runs no step.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::Recover.
[[nodiscard]] Result<Epoch> RecoverAll(Core& core);

}  // namespace ratchet::procedure
