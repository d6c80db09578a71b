// Clock skew of region servers relative to this master (S74: clock skew limit). Ownership never depends on clocks.
// But timestamps that a server assigns stay in its regions permanently (S27: rising timestamps), so time ranges and
// times to live remain wrong long after a clock that was far ahead is corrected.
//
// Thread-safe; memory only; a page is removed when its server has not reported for kClockPageAge.
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
#include "master/telemetry/page_sweep.h"

namespace ratchet::master {

inline constexpr Millis kClockPageAge{60'000};
// Skew above which the time is recorded since which a clock is wrong.
inline constexpr Millis kClockNoticed{1'000};
// HBase's names: hbase.master.maxclockskew, hbase.master.warningclockskew.
struct ClockLimits {
  Live<Millis> refused{Millis{30'000}};  // a server with a greater skew may not register
  Live<Millis> warning{Millis{10'000}};  // a greater skew is shown as a problem in the status

  // Two functions, because --help lists another setting in between.
  template <class Settings>
  void BindRefused(Settings& settings) {
    settings.AddMillis(
        {"max-clock-skew-ms",
         "Maximum clock skew of a region server relative to this master; a greater one prevents its registration.",
         {"hbase.master.maxclockskew"}},
        &refused, Millis(1), Millis(86'400'000));
  }
  template <class Settings>
  void BindWarning(Settings& settings) {
    settings.AddMillis({"warning-clock-skew-ms",
                        "Clock skew of a region server relative to this master above which it is shown as a problem.",
                        {"hbase.master.warningclockskew"}},
                       &warning, Millis(1), Millis(86'400'000));
  }
};

// Returns the skew in ms, positive if the other clock is ahead; accepts any number from the wire.
[[nodiscard]] std::int64_t ClockSkewMs(std::uint64_t theirs_ms, std::int64_t ours_ms);

// S74, at registration: returns ClockOutOfSyncException if the skew exceeds `limit`.
[[nodiscard]] Status CheckClock(const ServerName& server, std::int64_t skew_ms, Millis limit);

class ClockBook {
 public:
  struct AheadRegion {
    std::string encoded_name;
    std::uint64_t ahead_ms = 0;  // how far its newest timestamp is ahead of its server's clock
  };
  struct Problem {
    std::string text;
    std::optional<TimePoint> since;  // nullopt if unknown
  };
  // Stores the data of a heartbeat, and replaces the regions of the previous one. The smaller skew of this and the last
  // heartbeat is used, because a delayed heartbeat looks like a clock that is behind. `count`: number of all regions
  // that are ahead, if `ahead` has only some of them.
  void Put(const ServerName& server, std::int64_t skew_ms, std::vector<AheadRegion> ahead, TimePoint now,
           std::size_t count = 0);
  // Returns the problems of online servers for the status: clocks with a skew above `warning`, regions that are ahead.
  [[nodiscard]] std::vector<Problem> Problems(const std::vector<ServerName>& online, Millis warning) const;

  static constexpr std::size_t kRegionsShown =
      10;  // regions of one server that are furthest ahead; the others are only counted

 private:
  struct Page {
    std::int64_t last_skew_ms = 0;
    std::int64_t skew_ms = 0;            // the effective skew
    std::optional<TimePoint> off_since;  // since when the skew exceeds kClockNoticed
    std::vector<AheadRegion> ahead;
    std::size_t ahead_count = 0;
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  PageSweep sweep_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
