// What a process takes from its environment so that a test or the chaos driver can break it from outside: armed fault
// points (RATCHET_FAULTS) and, in builds that have them, mutants (RATCHET_MUTANT). Called once by main, before the
// first thread starts.
#pragma once

#include <string>

#include "common/base/result.h"

namespace ratchet {

// Variables that arm `faults` (as FaultPoints::ArmFromText takes them) in a server that is started with them, for the
// programs that start servers. The second one is the setting --allow-fault-points.
inline constexpr const char* kFaultsVariable = "RATCHET_FAULTS";
inline constexpr const char* kAllowFaultPointsVariable = "RATCHET_ALLOW_FAULT_POINTS";

// Arms what RATCHET_FAULTS says. An error says what is wrong, and the process must not start then: faults are armed and
// `allowed` (--allow-fault-points) is false, a point is unknown, or RATCHET_MUTANT is set in a build without mutants.
[[nodiscard]] Status TakeProvingEnvironment(bool allowed);

}  // namespace ratchet
