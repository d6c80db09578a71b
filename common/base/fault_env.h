// Reads the environment variables with which a test or the chaos driver injects faults from outside: armed fault points
// (RATCHET_FAULTS) and, in builds that have them, mutants (RATCHET_MUTANT). Called once by main, before the first
// thread starts.
#pragma once

#include <string>

#include "common/base/result.h"

namespace ratchet {

// Environment variables that arm fault points (in the form of FaultPoints::ArmFromText) in a server, for the programs
// that start servers. The second one is the setting --allow-fault-points.
inline constexpr const char* kFaultsVariable = "RATCHET_FAULTS";
inline constexpr const char* kAllowFaultPointsVariable = "RATCHET_ALLOW_FAULT_POINTS";

// Arms the fault points in RATCHET_FAULTS. On an error, which gives the reason, the process must not start: faults are
// armed and `allowed` (--allow-fault-points) is false, a point is unknown, or RATCHET_MUTANT is set in a build without
// mutants.
[[nodiscard]] Status ArmFaultsFromEnvironment(bool allowed);

}  // namespace ratchet
