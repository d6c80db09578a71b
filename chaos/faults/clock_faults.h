// clock-jump and clock-drift: the wall clock of one master, standby or region server is wrong, from its start or while
// it runs, within the active master's limit or far beyond it (S74: clock skew limit).
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeClockJump();
[[nodiscard]] std::unique_ptr<Fault> MakeClockDrift();

}  // namespace ratchet::chaos
