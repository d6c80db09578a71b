// Which fault when: a pure function of the mix and the seed.
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
  Millis at{0};  // after the start of the chaos; later when the cluster has not yet got over the one before
  std::string kind;
  std::uint64_t seed = 0;  // of its victims and its duration
  bool operator==(const PlannedFault&) const = default;
};

// One fault a period on average, each moved by up to a quarter of it. Kinds are dealt from a shuffled deck that holds
// each as often as it weighs, so that a run of some length meets all of them.
[[nodiscard]] std::vector<PlannedFault> MakeSchedule(const std::vector<WeightedFault>& mix, Millis duration,
                                                     Millis period, std::uint64_t seed);

}  // namespace ratchet::chaos
