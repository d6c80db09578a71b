// The regions' part of a server's report: the open regions (online_list.h), and the changed loads (load_turns.h), so
// that the size of a report depends on the changes. The load of a region is read together with its newest timestamp,
// which may be ahead of the clock (S74: clock skew limit).
//
// Owner: the process. Thread-safe; never waits for storage.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/region_server_status.pb.h"
#include "regionserver/host/load_turns.h"
#include "regionserver/host/online_list.h"
#include "regionserver/host/open_regions.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {

// Timestamps that are ahead of the clock: a server with a fast clock assigned them, and they stay (S27: rising
// timestamps; S74: clock skew limit).
//
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

class RegionReport {
 public:
  static constexpr std::size_t kAheadAReport = 10;  // regions named in a report; others are counted
  // `take_changes` returns each change once. `clock` outlives this object.
  RegionReport(std::function<OpenChanges()> take_changes, const Clock& clock,
               std::size_t looks_a_report = LoadTurns::kLooksAReport)
      : take_changes_(std::move(take_changes)), clock_(clock), turns_(looks_a_report) {}

  void Fill(hbase::pb::RegionServerReportRequest& request);
  // Null: the master has not answered, so it is unknown whether it has accepted the report.
  void Answered(const hbase::pb::RegionServerReportResponse* answer);
  // Call when there is another master, which knows no region yet.
  void StartAnew();

 private:
  struct Known {
    std::weak_ptr<Region> region;
    std::string name;            // the region's full name, computed once because it contains a hash
    std::uint64_t requests = 0;  // in the last report
    std::int64_t newest = 0;     // timestamp in the last report
  };
  void ApplyChanges() REQUIRES(mutex_);
  void Forget(const std::string& encoded_name) REQUIRES(mutex_);
  // Returns nullopt if the region is no longer open.
  std::optional<hbase::pb::RegionLoad> LoadOf(const std::string& encoded_name) REQUIRES(mutex_);
  void FillLoads(hbase::pb::RegionServerReportRequest& request) REQUIRES(mutex_);
  void SetNewest(const std::string& encoded_name, Known& known, std::int64_t newest) REQUIRES(mutex_);
  void FillAhead(hbase::pb::RegionServerReportRequest& request) REQUIRES(mutex_);

  const std::function<OpenChanges()> take_changes_;
  const Clock& clock_;
  Mutex mutex_;
  OnlineList list_ GUARDED_BY(mutex_);
  LoadTurns turns_ GUARDED_BY(mutex_);
  std::map<std::string, Known> regions_ GUARDED_BY(mutex_);                  // by encoded name
  std::set<std::pair<std::int64_t, std::string>> ahead_ GUARDED_BY(mutex_);  // newest timestamp, encoded name
  std::uint64_t requests_ GUARDED_BY(mutex_) = 0;                            // the sum over the known regions
};

}  // namespace ratchet::regionserver
