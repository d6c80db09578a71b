// Named mixes of faults. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chaos/driver/schedule.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct Scenario {
  std::string_view name;
  std::string_view about;
  std::vector<WeightedFault> mix;  // empty: every existing kind, once
  Millis period{0};
  std::size_t intensity = 1;
};

[[nodiscard]] const std::vector<Scenario>& Scenarios();
// kInvalidArgument for an unknown name lists the existing ones.
[[nodiscard]] Result<Scenario> FindScenario(std::string_view name);

// "TYPE:N" is the n-th durable step (from 1) of a procedure of this type, "TYPE:STEP" a step by its name: the kind of
// fault that kills the active master right after it. kInvalidArgument otherwise.
[[nodiscard]] Result<std::string> KillStepKind(std::string_view text);

}  // namespace ratchet::chaos
