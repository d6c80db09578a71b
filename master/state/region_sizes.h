// RegionSizes: how many bytes of store files each region has, as its server has last reported. Of this master's time
// only: a hint, nothing but plans hang on it. Thread-safe.
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
  std::uint64_t bytes = 0;  // of store files, as far as their rows are the region's
};

class RegionSizes {
 public:
  // All regions of the server: in place of what it has reported before. What servers have reported that are not
  // `online` any more is forgotten.
  void Put(const ServerName& server, const std::vector<RegionSize>& sizes, const std::vector<ServerName>& online);
  // As the server has reported it that has it.
  [[nodiscard]] std::optional<std::uint64_t> Of(const ServerName& server, const std::string& region) const;

 private:
  mutable Mutex mutex_;
  std::map<ServerName, std::map<std::string, std::uint64_t>> sizes_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
