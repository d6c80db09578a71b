#include "common/base/fault_env.h"

#include <cstdlib>

#include <fmt/core.h>

#include "common/base/fault_point.h"

namespace ratchet {
namespace {

#if defined(RATCHET_MUTANTS)
constexpr bool kHasMutants = true;
#else
constexpr bool kHasMutants = false;
#endif

}  // namespace

Status ArmFaultsFromEnvironment(bool allowed) {
  if (!kHasMutants && std::getenv("RATCHET_MUTANT") != nullptr) {
    return Error(
        Code::kInvalidArgument,
        "RATCHET_MUTANT is set, but this build has no mutants: use one of the preset 'proof', or unset the variable");
  }
  const char* faults = std::getenv(kFaultsVariable);
  if (faults == nullptr) return Ok();
  if (!allowed) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{} is set, but --allow-fault-points is not: set it too if this process is to "
                             "break at a fault point, or unset the variable",
                             kFaultsVariable));
  }
  const Status armed = FaultPoints::Instance().ArmFromText(faults);
  return armed.ok() ? Ok() : Status(armed.error().Annotate(kFaultsVariable));
}

}  // namespace ratchet
