#include "chaos/driver/schedule.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/prng.h"

namespace ratchet::chaos {

std::vector<PlannedFault> MakeSchedule(const std::vector<WeightedFault>& mix, Millis duration, Millis period,
                                       std::uint64_t seed) {
  RATCHET_CHECK(period.count() > 0, "a schedule needs a period");
  std::vector<PlannedFault> planned;
  if (mix.empty()) return planned;
  Prng prng(seed);
  std::vector<std::string> deck;
  const std::int64_t quarter = period.count() / 4;
  for (std::int64_t turn = 0;; ++turn) {
    const Millis at{turn * period.count() + quarter + prng.Between(-quarter, quarter)};
    if (at >= duration) break;
    if (deck.empty()) {
      for (const auto& [kind, weight] : mix) deck.insert(deck.end(), static_cast<std::size_t>(weight), kind);
      // std::shuffle is not used, because the standard does not fix its result, and a seed must give the same schedule
      // everywhere.
      for (std::size_t i = deck.size(); i > 1; --i) std::swap(deck[i - 1], deck[prng.Below(i)]);
    }
    planned.push_back({at, deck.back(), prng.Next()});
    deck.pop_back();
  }
  return planned;
}

}  // namespace ratchet::chaos
