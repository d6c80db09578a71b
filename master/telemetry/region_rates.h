// RegionRates: request rate and size of each region, as its server reports them with heartbeats. In memory only: a hint
// that only plans use. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"

namespace ratchet::master {

struct RegionReading {
  std::string region;          // encoded name
  std::uint64_t requests = 0;  // since it was opened
  std::uint64_t bytes = 0;     // of store files
};

struct RegionRate {
  double requests = 0;  // per second; weighted mean of the last readings
  double bytes = 0;
};

class RegionRates {
 public:
  static constexpr Millis kKeep{10 * 60'000};  // for a region that no server reports

  // Stores readings of some or all regions of the server.
  void Put(const ServerName& server, const std::vector<RegionReading>& readings, TimePoint now);
  // Returns the rate at that server; nullopt until the server has reported the region twice.
  [[nodiscard]] std::optional<RegionRate> Of(const ServerName& server, std::string_view region) const;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Known {
    ServerName server;
    std::uint64_t requests = 0;
    TimePoint at{};
    bool twice = false;
    RegionRate rate;
  };
  mutable Mutex mutex_;
  std::map<std::string, Known, std::less<>> regions_ GUARDED_BY(mutex_);
  TimePoint swept_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::master
