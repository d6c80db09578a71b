#include "common/base/check.h"
#include "common/model/codec.h"
#include "master/cluster/region_directory.h"
#include "master/telemetry/heartbeat_intake.h"
#include "tests/costs/counted_memory.h"
#include "tests/costs/measured.h"
#include "tests/costs/open_regions.h"
#include "tests/support/manual_time.h"

namespace ratchet::costs {
namespace {

namespace pb = ::hbase::pb;

constexpr std::size_t kServerRegions = 200;
constexpr std::size_t kMasterRegions = 10'000;

void FillLoad(const RegionInfo& info, pb::RegionLoad& load) {
  SpecifyRegion(info, *load.mutable_region_specifier());
  load.set_stores(1);
  load.set_storefiles(1);
  load.set_store_uncompressed_size_mb(1);
  load.set_storefile_size_mb(1);
  load.set_region_size_mb(1);
  load.set_mem_store_size_mb(0);
  load.set_read_requests_count(100);
  load.set_write_requests_count(100);
  load.set_complete_sequence_id(7);
  load.set_last_major_compaction_ts(0);
  auto* store = load.add_store_complete_sequence_id();
  store->set_family_name("f");
  store->set_sequence_id(7);
}

}  // namespace

std::uint64_t ServerBytesARegion(const std::string& dir) {
  return BytesAnOpenRegion(dir, kServerRegions, [] { return CountedMemory().bytes; });
}

MasterBytes MasterBytesARegion() {
  using namespace master;  // NOLINT(google-build-using-namespace): the measured code
  ManualTime time;
  const ServerName server{"host.example", 16'020, 1'700'000'000'000};
  RegionDirectory regions(time);
  LoadBook loads;
  ClockBook clocks;
  StorageBook storage;
  PastBook pasts;
  RegionRates rates;
  const std::uint64_t before = CountedMemory().bytes;
  for (std::size_t number = 0; number < kMasterRegions; ++number) {
    RegionRow row;
    row.region = MeasuredRegion(number);
    row.state = RegionState::kOpen;
    row.location = server;
    regions.Add(row);
  }
  const std::uint64_t with_regions = CountedMemory().bytes;
  {
    pb::RegionServerReportRequest report;
    report.set_list_number(1);
    report.set_list_size(kMasterRegions);
    for (std::size_t number = 0; number < kMasterRegions; ++number) {
      report.add_online()->set_encoded_name(MeasuredRegion(number).encoded_name());
      FillLoad(MeasuredRegion(number), *report.mutable_load()->add_region_loads());
    }
    HeartbeatIntake({loads, clocks, storage, pasts, rates}, time).Take(server, report, RegionListOf(report));
  }
  RATCHET_CHECK(loads.KnownAt(server) == kMasterRegions, "loads are missing");
  return {(with_regions - before) / kMasterRegions, (CountedMemory().bytes - with_regions) / kMasterRegions};
}

}  // namespace ratchet::costs
