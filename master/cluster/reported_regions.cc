#include "master/cluster/reported_regions.h"

#include <set>
#include <utility>

#include "common/base/mutant.h"
#include "common/model/open_regions_digest.h"

namespace ratchet::master {

void ReportedRegions::Set(const OnlineRegion& region, std::vector<std::string>* changed) {
  const auto [known, fresh] = open_.try_emplace(region.encoded, region.open_number);
  if (!fresh && known->second == region.open_number) return;
  if (!fresh) digest_ -= DigestOfOpenRegion(region.encoded, known->second);
  known->second = region.open_number;
  digest_ += DigestOfOpenRegion(region.encoded, region.open_number);
  changed->push_back(region.encoded);
}

void ReportedRegions::Erase(const std::string& encoded, std::vector<std::string>* changed) {
  const auto known = open_.find(encoded);
  if (known == open_.end()) return;
  digest_ -= DigestOfOpenRegion(encoded, known->second);
  open_.erase(known);
  changed->push_back(encoded);
}

bool ReportedRegions::AddsUp(const RegionList& list) const {
  return list.size == open_.size() && list.digest == digest_;
}

bool ReportedRegions::Take(const RegionList& list, std::vector<std::string>* changed) {
  const bool blind = RATCHET_MUTANT("heartbeat.take_any_list");
  if (list.number != 0 && list.number <= newest_ && !blind) return false;  // a late list; the current one is newer
  newest_ = list.number;
  if (list.base != number_ && list.base != 0 && !blind) {
    number_ = 0;
    return false;
  }
  if (list.base == 0) {
    std::set<std::string> listed;
    for (const OnlineRegion& region : list.open) listed.insert(region.encoded);
    std::vector<std::string> gone;
    for (const auto& [encoded, open_number] : open_)
      if (!listed.contains(encoded)) gone.push_back(encoded);
    for (const std::string& encoded : gone) Erase(encoded, changed);
  }
  for (const std::string& encoded : list.closed) Erase(encoded, changed);
  for (const OnlineRegion& region : list.open) Set(region, changed);
  number_ = list.number;
  if (list.number == 0 || AddsUp(list) || blind) return true;
  number_ = 0;
  return false;
}

}  // namespace ratchet::master
