#include "master/state/region_sizes.h"

namespace ratchet::master {

void RegionSizes::Put(const ServerName& server, const std::vector<RegionSize>& sizes) {
  std::map<std::string, std::uint64_t> all;
  for (const RegionSize& size : sizes) all[size.region] = size.bytes;
  const MutexLock lock(mutex_);
  // Of an earlier server at the address nothing is to be heard any more.
  std::erase_if(sizes_, [&server](const auto& each) { return each.first.SameAddress(server); });
  sizes_[server] = std::move(all);
}

void RegionSizes::Remove(const ServerName& server) {
  const MutexLock lock(mutex_);
  sizes_.erase(server);
}

std::optional<std::uint64_t> RegionSizes::Of(const ServerName& server, const std::string& region) const {
  const MutexLock lock(mutex_);
  const auto of_server = sizes_.find(server);
  if (of_server == sizes_.end()) return std::nullopt;
  const auto size = of_server->second.find(region);
  if (size == of_server->second.end()) return std::nullopt;
  return size->second;
}

}  // namespace ratchet::master
