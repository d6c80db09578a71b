// Finds regions whose timestamps are ahead of the clock: a server with a fast clock assigned them, and they stay (S27:
// rising timestamps; S74: clock skew limit).
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {

// Smaller differences are not reported, because clocks of a cluster differ.
inline constexpr std::int64_t kAheadMs = 10'000;

// Returns the newest timestamp of `region` that came from a clock. Returns 0 for hbase:meta: each change of meta gets
// its own timestamp, so that more than a thousand changes per second move them ahead of every clock (S27). That is
// harmless: no time to live and no time range depends on them, and they rise with each change. Thread-safe.
[[nodiscard]] inline std::int64_t NewestByClock(Region& region) {
  return region.info().IsMeta() ? 0 : region.GetStatus().greatest_timestamp;
}

// Returns how many ms the newest timestamp of `region` is ahead of `clock`; 0 when that is at most kAheadMs.
// Thread-safe.
[[nodiscard]] inline std::int64_t AheadOfClock(Region& region, const Clock& clock) {
  const std::int64_t ahead = NewestByClock(region) - clock.WallMillis();
  return ahead > kAheadMs ? ahead : 0;
}

}  // namespace ratchet::regionserver
