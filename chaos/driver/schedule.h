// The schedule of faults: a pure function of the mix and the seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/clock.h"

namespace ratchet::chaos {

struct WeightedFault {
  std::string kind;
  int weight = 1;  // > 0
  bool operator==(const WeightedFault&) const = default;
};

struct PlannedFault {
  Millis at{0};  // after the start of the chaos; later if the cluster has not yet recovered from the previous fault
  std::string kind;
  std::uint64_t seed = 0;  // seed of its victims and its duration
  bool operator==(const PlannedFault&) const = default;
};

// Plans one fault per period on average, each shifted by up to a quarter of a period. Kinds are drawn from a shuffled
// deck with as many cards of each kind as its weight, so that a long enough run uses all of them.
[[nodiscard]] std::vector<PlannedFault> MakeSchedule(const std::vector<WeightedFault>& mix, Millis duration,
                                                     Millis period, std::uint64_t seed);

}  // namespace ratchet::chaos
