#include "regionserver/host/region_report.h"

#include <algorithm>

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
  }
  for (const auto& region : changes.opened) {
    const std::string& name = region->encoded_name();
    Forget(name);
    regions_[name] = {region, region->info().name(), 0, 0};
    list_.Opened(name, region->GetStatus().open_number);
    fresh_.push_back(name);
  }
}

void RegionReport::FillLoad(const std::string& encoded_name, Known& known, hbase::pb::ServerLoad& load) {
  const auto region = known.region.lock();
  if (region == nullptr || region->encoded_name() != encoded_name) return;
  auto& entry = *load.add_region_loads();
  FillRegionLoad(*region, known.name, entry);
  const std::uint64_t requests = entry.read_requests_count() + entry.write_requests_count();
  requests_ += requests - known.requests;
  known.requests = requests;
  SetNewest(encoded_name, known, NewestByClock(*region));
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
  const OnlineList::List list = list_.Next();
  request.set_list_number(list.number);
  if (list.base != 0) request.set_list_base(list.base);
  request.set_list_size(list.size);
  request.set_list_digest(list.digest);
  for (const auto& [name, open_number] : list.open) {
    auto& online = *request.add_online();
    online.set_encoded_name(name);
    online.set_open_number(open_number);
  }
  for (const std::string& name : list.closed) request.add_closed(name);
  auto& load = *request.mutable_load();
  const std::size_t turns = std::min(loads_a_report_, regions_.size());
  auto turn = regions_.upper_bound(last_);
  for (std::size_t i = 0; i < turns; ++i) {
    if (turn == regions_.end()) turn = regions_.begin();
    FillLoad(turn->first, turn->second, load);
    last_ = turn->first;
    ++turn;
  }
  // Adds new regions out of turn, at most the same number again; the rest follows soon.
  std::size_t more = 0;
  for (const std::string& name : fresh_) {
    if (turns == regions_.size() || ++more > loads_a_report_) break;
    if (const auto known = regions_.find(name); known != regions_.end()) FillLoad(name, known->second, load);
  }
  fresh_.clear();
  load.set_total_number_of_requests(requests_);
  FillAhead(request);
}

void RegionReport::Answered(const hbase::pb::RegionServerReportResponse* answer) {
  if (answer == nullptr) return;
  MutexLock lock(mutex_);
  list_.Answered(answer->list_taken());
}

void RegionReport::StartAnew() {
  MutexLock lock(mutex_);
  list_.StartAnew();
}

}  // namespace ratchet::regionserver
