// The lower bound of server-wide orders, S19 (executed orders are remembered).
#pragma once

#include "common/base/strong_id.h"
#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// No unfinished procedure has a lower pid. The bound is only ever raised. Skips the numbers that no procedure can have:
// between the last pid that was loaded and the first new one there may be a million, S117 (pid limit).
[[nodiscard]] ProcId LowestLive(ExecutorLock& held);

}  // namespace ratchet::procedure
