// Which scheduling class and which queue a procedure belongs to, derived from its locks unless it says otherwise.
#pragma once

#include "procedure/lock_request.h"
#include "procedure/procedure.h"

namespace ratchet::procedure {

// Never kByLocks.
[[nodiscard]] Priority EffectivePriority(const Procedure& procedure);

// The resource whose queue the procedure stands in, for round robin: its table, server, peer, ..., or its type when it locks
// nothing.
[[nodiscard]] ResourceKey QueueOf(const Procedure& procedure);

}  // namespace ratchet::procedure
