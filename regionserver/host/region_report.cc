#include "regionserver/host/region_report.h"

#include <functional>

#include "regionserver/rpc/admin_service.h"

namespace ratchet::regionserver {

void RegionReport::Forget(const std::string& encoded_name) {
  const auto known = regions_.find(encoded_name);
  if (known == regions_.end()) return;
  requests_ -= known->second.requests;
  ahead_.erase({known->second.newest, encoded_name});
  regions_.erase(known);
}

void RegionReport::ApplyChanges() {
  OpenChanges changes = take_changes_();
  for (const std::string& name : changes.closed) {
    Forget(name);
    list_.Closed(name);
    turns_.Closed(name);
  }
  for (const auto& region : changes.opened) {
    const std::string& name = region->encoded_name();
    Forget(name);
    regions_[name] = {region, region->info().name()};
    list_.Opened(name, region->GetStatus().open_number);
    turns_.Opened(name);
  }
}

std::optional<hbase::pb::RegionLoad> RegionReport::LoadOf(const std::string& encoded_name) {
  const auto known = regions_.find(encoded_name);
  if (known == regions_.end()) return std::nullopt;
  const auto region = known->second.region.lock();
  if (region == nullptr || region->encoded_name() != encoded_name) return std::nullopt;
  hbase::pb::RegionLoad load;
  FillRegionLoad(*region, known->second.name, load);
  const std::uint64_t requests = load.read_requests_count() + load.write_requests_count();
  requests_ += requests - known->second.requests;
  known->second.requests = requests;
  SetNewest(encoded_name, known->second, NewestByClock(*region));
  return load;
}

void RegionReport::FillLoads(hbase::pb::RegionServerReportRequest& request) {
  auto& load = *request.mutable_load();
  hbase::pb::RegionLoad read;
  const LoadTurns::Report report = turns_.Next(
      clock_.Now(),
      [&](const std::string& name) REQUIRES(mutex_) -> std::optional<std::size_t> {
        auto now = LoadOf(name);
        if (!now.has_value()) return std::nullopt;
        read = *std::move(now);
        return std::hash<std::string>()(read.SerializeAsString());
      },
      [&](const std::string& /*name*/) { *load.add_region_loads() = std::move(read); });
  request.set_loads_complete(report.complete);
  request.set_loads_held(report.held);
  load.set_total_number_of_requests(requests_);
}

void RegionReport::SetNewest(const std::string& encoded_name, Known& known, std::int64_t newest) {
  ahead_.erase({known.newest, encoded_name});
  known.newest = newest;
  if (newest - clock_.WallMillis() > kAheadMs) ahead_.insert({newest, encoded_name});
}

void RegionReport::FillAhead(hbase::pb::RegionServerReportRequest& request) {
  const std::int64_t now = clock_.WallMillis();
  while (!ahead_.empty() && ahead_.begin()->first - now <= kAheadMs)
    ahead_.erase(ahead_.begin());  // the clock has passed them
  request.set_ahead_count(ahead_.size());
  std::size_t named = 0;
  for (auto region = ahead_.rbegin(); region != ahead_.rend() && named < kAheadAReport; ++region, ++named) {
    auto& ahead = *request.add_ahead();
    ahead.set_encoded_name(region->second);
    ahead.set_ahead_ms(static_cast<std::uint64_t>(region->first - now));
  }
}

void RegionReport::Fill(hbase::pb::RegionServerReportRequest& request) {
  MutexLock lock(mutex_);
  ApplyChanges();
  FillList(list_.Next(), request);
  FillLoads(request);
  FillAhead(request);
}

void RegionReport::Answered(const hbase::pb::RegionServerReportResponse* answer) {
  if (answer == nullptr) return;
  MutexLock lock(mutex_);
  list_.Answered(answer->list_taken());
  LoadTurns::Answer loads;
  loads.taken = answer->list_taken() != 0;
  if (answer->has_loads_a_second()) loads.loads_a_second = answer->loads_a_second();
  loads.all = answer->all_loads();
  turns_.Answered(loads);
}

void RegionReport::StartAnew() {
  MutexLock lock(mutex_);
  list_.StartAnew();
  turns_.StartAnew();
}

}  // namespace ratchet::regionserver
