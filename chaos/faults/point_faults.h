// Faults at named points of the programs (common/base/fault_point.h): a victim is restarted with the point armed, and
// then given work that reaches it. The evidence is its death there, or a line in its log that it stopped there.
#pragma once

#include <memory>
#include <string_view>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// "fault-point" and "kill-at-step": the seed chooses the point or step.
[[nodiscard]] std::unique_ptr<Fault> MakeRandomPoint();
[[nodiscard]] std::unique_ptr<Fault> MakeRandomStep();
// "at:..." and "step:...".
[[nodiscard]] Result<std::unique_ptr<Fault>> MakePoint(std::string_view kind);

}  // namespace ratchet::chaos
