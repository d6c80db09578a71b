#include "master/rpc/load_reports.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "common/model/codec.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {

namespace pb = ::hbase::pb;

void RecordRates(const ActiveParts& parts, const ServerName& server, const pb::ServerLoad& load, TimePoint now) {
  constexpr std::uint64_t kMiB = 1U << 20U;
  std::vector<RegionReading> readings;
  readings.reserve(static_cast<std::size_t>(load.region_loads_size()));
  for (const pb::RegionLoad& region : load.region_loads()) {
    const auto encoded = EncodedNameOf(region.region_specifier());
    if (!encoded.ok()) continue;
    readings.push_back(
        {*encoded, region.read_requests_count() + region.write_requests_count(), region.region_size_mb() * kMiB});
  }
  parts.logic->region_rates().Put(server, readings, now);
}

void SplitWhatHasGrown(const LoadBook& loads, const ActiveParts& parts, const ServerName& server) {
  AutoSplitter& splitter = parts.logic->auto_splitter();
  if (!splitter.IsDue(server)) return;
  const auto load = loads.Get(server);
  if (!load) return;
  std::vector<AutoSplitter::Size> sizes;
  sizes.reserve(static_cast<std::size_t>(load->region_loads_size()));
  for (const pb::RegionLoad& region : load->region_loads()) {
    const auto encoded = EncodedNameOf(region.region_specifier());
    if (encoded.ok()) sizes.push_back({*encoded, static_cast<std::uint64_t>(region.region_size_mb()) << 20});
  }
  parts.logic->region_sizes().Put(server, sizes, parts.logic->servers().Online());
  splitter.Look(server, std::move(sizes));
}

}  // namespace ratchet::master
