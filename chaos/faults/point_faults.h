// Faults at named points of the programs (common/base/fault_point.h): a victim is started again with the point armed,
// and then given a reason to come by. That it died there, or said in its log that it stopped there, is the evidence.
#pragma once

#include <memory>
#include <string_view>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// "fault-point" and "kill-at-step": which one is drawn from the seed.
[[nodiscard]] std::unique_ptr<Fault> MakeRandomPoint();
[[nodiscard]] std::unique_ptr<Fault> MakeRandomStep();
// "at:..." and "step:...".
[[nodiscard]] Result<std::unique_ptr<Fault>> MakePoint(std::string_view kind);

}  // namespace ratchet::chaos
