// A second fault in a phase of a recovery, or of a change of the cluster: a first fault or a request leads there, the
// masters hold each phase for a moment (HoldPhases), and the second fault strikes in it.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeInPhase();

}  // namespace ratchet::chaos
