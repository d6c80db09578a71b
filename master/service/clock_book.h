// How far the clocks of region servers are from this master's (S74). Nothing about ownership looks at a clock; but
// timestamps that a server gives stay in its regions for good (S27), so time ranges and times to live go wrong long
// after a clock that was far ahead was put right.
//
// Thread-safe; memory only; a page goes when its server has not reported for kClockPageAge.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::master {

inline constexpr Millis kClockPageAge{60'000};
// From here on it is remembered since when a clock is off.
inline constexpr Millis kClockNoticed{1'000};
// HBase's names: hbase.master.maxclockskew, hbase.master.warningclockskew.
struct ClockLimits {
  Live<Millis> refused{Millis{30'000}};  // a server whose clock is further off may not register
  Live<Millis> warning{Millis{10'000}};  // one whose clock is further off is a problem in the status
};

// A difference of clocks in ms, ahead is positive; of any number that the wire can have.
[[nodiscard]] std::int64_t ClockSkewMs(std::uint64_t theirs_ms, std::int64_t ours_ms);

// S74, at registration: ClockOutOfSyncException where the clocks are further apart than `limit`.
[[nodiscard]] Status CheckClock(const ServerName& server, std::int64_t skew_ms, Millis limit);

class ClockBook {
 public:
  struct AheadRegion {
    std::string encoded_name;
    std::uint64_t ahead_ms = 0;  // its newest timestamp, of its server's clock
  };
  struct Problem {
    std::string text;
    std::optional<TimePoint> since;  // none: it is not known
  };
  // From a heartbeat; the regions of the heartbeat before are forgotten. Of the skew the smaller one of this and the
  // last heartbeat counts: a heartbeat that was long on its way looks like a clock that is behind. `count`: of all that
  // are ahead, where `ahead` has only some of them.
  void Put(const ServerName& server, std::int64_t skew_ms, std::vector<AheadRegion> ahead, TimePoint now,
           std::size_t count = 0);
  // Sentences for the status, of servers that are online: clocks that are further off than `warning`, regions that are
  // ahead.
  [[nodiscard]] std::vector<Problem> Problems(const std::vector<ServerName>& online, Millis warning) const;

  static constexpr std::size_t kRegionsShown =
      10;  // of one server, those that are furthest ahead; the others are counted

 private:
  struct Page {
    std::int64_t last_skew_ms = 0;
    std::int64_t skew_ms = 0;            // what counts
    std::optional<TimePoint> off_since;  // it counts for more than kClockNoticed
    std::vector<AheadRegion> ahead;
    std::size_t ahead_count = 0;
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
