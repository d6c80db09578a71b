// Regions whose timestamps are ahead of the clock: a server whose clock was ahead has given them, and they stay (S27,
// S74).
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {

// Less is not worth a word: clocks of a cluster differ.
inline constexpr std::int64_t kAheadMs = 10'000;

// How many ms the newest timestamp of `region` is ahead of `clock`; 0 when that is at most kAheadMs. Thread-safe.
[[nodiscard]] inline std::int64_t AheadOfClock(Region& region, const Clock& clock) {
  const std::int64_t ahead = region.GetStatus().greatest_timestamp - clock.WallMillis();
  return ahead > kAheadMs ? ahead : 0;
}

}  // namespace ratchet::regionserver
