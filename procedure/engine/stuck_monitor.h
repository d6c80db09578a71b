// Watches for workers that are held up by slow steps and adds workers meanwhile.
#pragma once

#include "procedure/api/views.h"
#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

[[nodiscard]] WorkersInfo LookAtWorkers(const HeldState& held);

// Called every stuck_check_interval: logs steps that run longer than stuck_threshold; when at least half of the workers
// are stuck and work is waiting, asks the pool for one more.
void CheckStuckWorkers(ExecutorLock& held);

}  // namespace ratchet::procedure
