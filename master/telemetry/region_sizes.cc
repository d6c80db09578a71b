#include "master/telemetry/region_sizes.h"

#include <set>

namespace ratchet::master {

void RegionSizes::Put(const ServerName& server, const std::vector<RegionSize>& sizes,
                      const std::vector<ServerName>& online) {
  std::map<std::string, std::uint64_t> all;
  for (const RegionSize& size : sizes) all[size.region] = size.bytes;
  const std::set<ServerName> lives(online.begin(), online.end());
  const MutexLock lock(mutex_);
  std::erase_if(sizes_, [&lives](const auto& each) { return !lives.contains(each.first); });
  sizes_[server] = std::move(all);
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
