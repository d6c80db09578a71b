// Rebuilds trees, locks, nonces and queued work from the store's records. Runs no step.
#pragma once

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::Recover.
[[nodiscard]] Result<Epoch> RecoverAll(Core& core);

// True if a procedure with unfinished children contradicts itself: its record does not say that it waits for them, S79
// (invalid record is parked).
[[nodiscard]] inline bool RunsBesideChildren(const Durable& durable) {
  return !durable.bypassed && (durable.state == ProcState::kRunnable || durable.state == ProcState::kInitializing ||
                               durable.state == ProcState::kWaitingTimeout);
}

}  // namespace ratchet::procedure
