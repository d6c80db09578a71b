// Decodes a heartbeat of a region server with pure functions, and stores it in the books of this folder.
//
// HeartbeatIntake decides nothing about regions: the reconciler compares the region list with the master's state, and
// the service passes the other parts of the report to their owners.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/model/server_name.h"
#include "master/cluster/reported_regions.h"
#include "master/telemetry/clock_book.h"
#include "master/telemetry/load_book.h"
#include "master/telemetry/past_book.h"
#include "master/telemetry/region_rates.h"
#include "master/telemetry/storage_book.h"

namespace ratchet::master {

// The server's clock, and its regions with timestamps that are ahead of it.
struct ClockReading {
  std::uint64_t wall_ms = 0;
  std::vector<ClockBook::AheadRegion> ahead;
  std::size_t ahead_count = 0;  // of all such regions, if `ahead` has only some
};

[[nodiscard]] RegionList RegionListOf(const hbase::pb::RegionServerReportRequest& report);
[[nodiscard]] ProcessNote ProcessNoteOf(const hbase::pb::RegionServerReportRequest& report);
// nullopt: a server of an earlier version.
[[nodiscard]] std::optional<StorageReport> StorageReportOf(const hbase::pb::RegionServerReportRequest& report);
// As in HBase, the clock is part of the load. nullopt: the report has none.
[[nodiscard]] std::optional<ClockReading> ClockReadingOf(const hbase::pb::RegionServerReportRequest& report);
[[nodiscard]] std::vector<RegionReading> ReadingsOf(const hbase::pb::ServerLoad& load);
// Returns true if the master lacks loads that the server counts as held (S168: unchanged is not unknown).
[[nodiscard]] bool LacksLoads(const LoadBook& loads, const ServerName& server,
                              const hbase::pb::RegionServerReportRequest& report);

class HeartbeatIntake {
 public:
  // All of these outlive the intake.
  struct Books {
    LoadBook& loads;
    ClockBook& clocks;
    StorageBook& storage;
    PastBook& pasts;
    RegionRates& rates;
  };
  HeartbeatIntake(const Books& books, const Clock& clock) : books_(books), clock_(clock) {}

  // Stores the report of an online server. Returns what the answer says about its storage; nullopt: nothing. `list`:
  // the server's region list, from the same report.
  std::optional<StorageAnswer> Take(const ServerName& server, const hbase::pb::RegionServerReportRequest& report,
                                    const RegionList& list);

 private:
  Books books_;
  const Clock& clock_;
};

}  // namespace ratchet::master
