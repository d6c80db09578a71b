// clock-jump and clock-drift: the wall clock of one master, standby or region server is wrong, from its start on or
// while it runs, within what the active master allows or far beyond (S74).
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeClockJump();
[[nodiscard]] std::unique_ptr<Fault> MakeClockDrift();

}  // namespace ratchet::chaos
