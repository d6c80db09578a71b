#include "master/telemetry/load_book.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "common/model/codec.h"

namespace ratchet::master {

namespace {

constexpr Millis kKeepLoad{10 * 60'000};  // for a server that no longer reports
constexpr std::size_t kSlack = 1'000;     // allowed number of regions with a known load that the server does not list

using RegionLoads = std::map<std::string, KeptLoad>;

// Drops the loads of regions that are no longer open there, or that were opened again.
void ForgetOthers(const RegionList& list, RegionLoads* loads) {
  for (const std::string& encoded : list.closed) loads->erase(encoded);
  if (list.base != 0 && !RATCHET_MUTANT("master.keep_loads_of_earlier_openings"))
    for (const OnlineRegion& region : list.open) loads->erase(region.encoded);
  if (list.base == 0 && !loads->empty()) {
    std::set<std::string> open;
    for (const OnlineRegion& region : list.open) open.insert(region.encoded);
    std::erase_if(*loads, [&open](const auto& each) { return !open.contains(each.first); });
  }
}

}  // namespace

void LoadSum::Add(const LoadSum& other) {
  store_files += other.store_files;
  store_mib += other.store_mib;
  memstore_mib += other.memstore_mib;
}

KeptLoad::KeptLoad(hbase::pb::RegionLoad load)
    : sum_{load.storefiles(), load.region_size_mb(), load.mem_store_size_mb()} {
  bytes_ = std::move(*load.mutable_region_specifier()->mutable_value());
  name_size_ = static_cast<std::uint32_t>(bytes_.size());
  load.mutable_region_specifier()->set_value("");  // a required field
  load.AppendPartialToString(&bytes_);
  bytes_.shrink_to_fit();
}

hbase::pb::RegionLoad KeptLoad::Message() const {
  hbase::pb::RegionLoad load;
  const bool parsed =
      load.ParsePartialFromArray(bytes_.data() + name_size_, static_cast<int>(bytes_.size() - name_size_));
  RATCHET_CHECK(parsed, "a load that this process wrote");
  load.mutable_region_specifier()->set_value(bytes_.data(), name_size_);
  return load;
}

bool LoadBook::Put(const ServerName& server, hbase::pb::ServerLoad load, TimePoint now, const RegionList& list) {
  MutexLock lock(mutex_);
  Page& page = pages_[server];
  if (list.number != 0 && list.number <= page.number && !RATCHET_MUTANT("master.take_late_loads")) return false;
  page.number = list.number;
  if (list.number == 0) {
    page.regions.clear();  // without a number, the report has all regions
  } else {
    ForgetOthers(list, &page.regions);
  }
  for (auto& region : *load.mutable_region_loads()) {
    const auto encoded = EncodedNameOf(region.region_specifier());
    if (!encoded.ok()) continue;
    if (region.has_complete_sequence_id()) {
      std::uint64_t& flushed = flushed_[*encoded];
      flushed = std::max<std::uint64_t>(flushed, region.complete_sequence_id());
    }
    page.regions.insert_or_assign(*encoded, KeptLoad(std::move(region)));
  }
  // Loads of regions that the server does not list: it is asked for all loads.
  if (list.number != 0 && page.regions.size() > list.size + kSlack) page.regions.clear();
  load.clear_region_loads();
  page.load = std::move(load);
  page.at = now;
  if (++puts_ >= pages_.size()) ForgetOld(now);
  return true;
}

void LoadBook::ForgetOld(TimePoint now) {
  puts_ = 0;
  std::erase_if(pages_, [now](const auto& entry) { return now - entry.second.at > kKeepLoad; });
  // Removes regions that no server lists (dropped tables, splits) when they are half of all.
  std::size_t listed = 0;
  for (const auto& entry : pages_) listed += entry.second.regions.size();
  if (flushed_.size() <= 2 * listed + kSlack) return;
  std::set<std::string> named;
  for (const auto& entry : pages_)
    for (const auto& [encoded, region] : entry.second.regions) named.insert(encoded);
  std::erase_if(flushed_, [&named](const auto& entry) { return !named.contains(entry.first); });
}

std::uint64_t LoadBook::KnownAt(const ServerName& server) const {
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  return found == pages_.end() ? 0 : found->second.regions.size();
}

std::vector<RegionSize> LoadBook::SizesAt(const ServerName& server) const {
  std::vector<RegionSize> sizes;
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  if (found == pages_.end()) return sizes;
  sizes.reserve(found->second.regions.size());
  for (const auto& [encoded, region] : found->second.regions) sizes.push_back({encoded, region.sum().store_mib << 20});
  return sizes;
}

std::optional<hbase::pb::ServerLoad> LoadBook::Get(const ServerName& server) const {
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  if (found == pages_.end()) return std::nullopt;
  hbase::pb::ServerLoad load = found->second.load;
  for (const auto& [encoded, region] : found->second.regions) *load.add_region_loads() = region.Message();
  return load;
}

std::optional<hbase::pb::RegionLoad> LoadBook::LoadOf(const std::string& encoded_region,
                                                      const std::optional<ServerName>& at) const {
  MutexLock lock(mutex_);
  if (const auto here = at ? pages_.find(*at) : pages_.end(); here != pages_.end()) {
    const auto known = here->second.regions.find(encoded_region);
    if (known != here->second.regions.end()) return known->second.Message();
  }
  const Page* newest = nullptr;  // a moved region is on two pages until its last server has reported the change
  for (const auto& [server, page] : pages_) {
    if (page.regions.contains(encoded_region) && (newest == nullptr || newest->at < page.at)) newest = &page;
  }
  if (newest == nullptr) return std::nullopt;
  return newest->regions.at(encoded_region).Message();
}

std::optional<LoadSum> LoadBook::LoadAt(const std::string& encoded_region, const ServerName& server) const {
  MutexLock lock(mutex_);
  const auto page = pages_.find(server);
  if (page == pages_.end()) return std::nullopt;
  const auto known = page->second.regions.find(encoded_region);
  if (known == page->second.regions.end()) return std::nullopt;
  return known->second.sum();
}

std::optional<std::uint64_t> LoadBook::RequestsOf(const ServerName& server) const {
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  if (found == pages_.end()) return std::nullopt;
  return found->second.load.number_of_requests();
}

LoadSum LoadBook::SumOf(const ServerName& server) const {
  LoadSum sum;
  MutexLock lock(mutex_);
  const auto found = pages_.find(server);
  if (found == pages_.end()) return sum;
  for (const auto& [encoded, region] : found->second.regions) sum.Add(region.sum());
  return sum;
}

std::map<std::string, LoadSum> LoadBook::SumsByTable() const {
  std::map<std::string, LoadSum> sums;
  MutexLock lock(mutex_);
  for (const auto& [server, page] : pages_) {
    for (const auto& [encoded, region] : page.regions) {
      const std::string_view name = region.name();
      sums[std::string(name.substr(0, name.find(',')))].Add(region.sum());
    }
  }
  return sums;
}

std::optional<std::uint64_t> LoadBook::FlushedSequence(const std::string& encoded_region) const {
  MutexLock lock(mutex_);
  const auto found = flushed_.find(encoded_region);
  if (found == flushed_.end()) return std::nullopt;
  return found->second;
}

}  // namespace ratchet::master
