// From the store's records back to trees, locks, nonces and things to do. Runs nothing.
#pragma once

#include "procedure/core.h"

namespace ratchet::procedure {

// Executor::Recover.
[[nodiscard]] Result<Epoch> RecoverAll(Core& core);

}  // namespace ratchet::procedure
