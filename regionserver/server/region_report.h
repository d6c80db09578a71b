// The regions' part of a server's report: which are open (online_list.h), and their load, of those that are new and of
// some others in turn, so that a report costs what has changed. With at most `loads_a_report` regions each report has
// the load of all. When a region is looked at for its load, it is also seen whether its newest timestamp is ahead of
// the clock (S74).
//
// Owner: the process. Thread-safe; never waits for storage.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/region_server_status.pb.h"
#include "regionserver/region/region.h"
#include "regionserver/server/online_list.h"

namespace ratchet::regionserver {

// What has come and gone since it was last asked for; each region once, as it is now.
struct OpenChanges {
  std::vector<std::shared_ptr<Region>> opened;
  std::vector<std::string> closed;
};

class RegionReport {
 public:
  static constexpr std::size_t kLoadsAReport = 1'000;
  static constexpr std::size_t kAheadAReport = 10;  // named; the others are counted
  // `take_changes` gives each change once. `clock` outlives this.
  RegionReport(std::function<OpenChanges()> take_changes, const Clock& clock,
               std::size_t loads_a_report = kLoadsAReport)
      : take_changes_(std::move(take_changes)), clock_(clock), loads_a_report_(loads_a_report) {}

  void Fill(hbase::pb::RegionServerReportRequest& request);
  // Null: the master has not answered; what it has taken is unknown.
  void Answered(const hbase::pb::RegionServerReportResponse* answer);
  // Another master: it knows nothing yet.
  void StartAnew();

 private:
  struct Known {
    std::weak_ptr<Region> region;
    std::string name;            // the full one: it is a hash, and is made once
    std::uint64_t requests = 0;  // when it was last looked at
    std::int64_t newest = 0;     // timestamp, then
  };
  void TakeChanges() REQUIRES(mutex_);
  void Forget(const std::string& encoded_name) REQUIRES(mutex_);
  void FillLoad(const std::string& encoded_name, Known& known, hbase::pb::ServerLoad& load) REQUIRES(mutex_);

  void SetNewest(const std::string& encoded_name, Known& known, std::int64_t newest) REQUIRES(mutex_);
  void FillAhead(hbase::pb::RegionServerReportRequest& request) REQUIRES(mutex_);

  const std::function<OpenChanges()> take_changes_;
  const Clock& clock_;
  const std::size_t loads_a_report_;
  Mutex mutex_;
  OnlineList list_ GUARDED_BY(mutex_);
  std::map<std::string, Known> regions_ GUARDED_BY(mutex_);                  // by encoded name
  std::set<std::pair<std::int64_t, std::string>> ahead_ GUARDED_BY(mutex_);  // newest timestamp, encoded name
  std::vector<std::string> fresh_ GUARDED_BY(mutex_);                        // opened since the last report
  std::string last_ GUARDED_BY(mutex_);                                      // the last one whose turn it was
  std::uint64_t requests_ GUARDED_BY(mutex_) = 0;                            // the sum of what is known
};

}  // namespace ratchet::regionserver
