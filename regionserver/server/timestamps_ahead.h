// Regions whose timestamps are ahead of the clock: a server whose clock was ahead has given them, and they stay (S27,
// S74).
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {

// Less is not worth a word: clocks of a cluster differ.
inline constexpr std::int64_t kAheadMs = 10'000;

// The newest timestamp of `region`, as far as a clock gave it. 0 for hbase:meta: there each change gets a timestamp of
// its own, so that a thousand changes a second for long enough take them ahead of every clock (S27). That harms
// nothing: no time to live and no time range looks at them, and they still rise with each change. Thread-safe.
[[nodiscard]] inline std::int64_t NewestByClock(Region& region) {
  return region.info().IsMeta() ? 0 : region.GetStatus().greatest_timestamp;
}

// How many ms the newest timestamp of `region` is ahead of `clock`; 0 when that is at most kAheadMs. Thread-safe.
[[nodiscard]] inline std::int64_t AheadOfClock(Region& region, const Clock& clock) {
  const std::int64_t ahead = NewestByClock(region) - clock.WallMillis();
  return ahead > kAheadMs ? ahead : 0;
}

}  // namespace ratchet::regionserver
