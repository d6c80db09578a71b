// From the store's records back to trees, locks, nonces and things to do. Runs nothing.
#pragma once

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Executor::Recover.
[[nodiscard]] Result<Epoch> RecoverAll(Core& core);

// Whether a procedure with unfinished children contradicts itself: its record does not say that it waits for them
// (S79).
[[nodiscard]] inline bool RunsBesideChildren(const Durable& durable) {
  return !durable.bypassed && (durable.state == ProcState::kRunnable || durable.state == ProcState::kInitializing ||
                               durable.state == ProcState::kWaitingTimeout);
}

}  // namespace ratchet::procedure
