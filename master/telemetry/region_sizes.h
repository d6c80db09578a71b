// RegionSizes: bytes of store files of each region, by its server's last report. In memory only: a hint that only plans
// use. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/server_name.h"

namespace ratchet::master {

struct RegionSize {
  std::string region;       // encoded name
  std::uint64_t bytes = 0;  // of store files, counting only rows of the region
};

class RegionSizes {
 public:
  // Replaces the sizes of all regions of the server. Forgets reports of servers that are not in `online`.
  void Put(const ServerName& server, const std::vector<RegionSize>& sizes, const std::vector<ServerName>& online);
  // Returns the size that `server` reported.
  [[nodiscard]] std::optional<std::uint64_t> Of(const ServerName& server, const std::string& region) const;

 private:
  mutable Mutex mutex_;
  std::map<ServerName, std::map<std::string, std::uint64_t>> sizes_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
