// RegionRates: what each region is asked and how large it is, as its server reports it with its heartbeats. Of this
// master's time only: a hint, nothing but plans hang on it. Thread-safe.
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
  double requests = 0;  // a second; the mean of the last readings, newer ones count more
  double bytes = 0;
};

class RegionRates {
 public:
  static constexpr Millis kKeep{10 * 60'000};  // a region that no server reports any more

  // A part of the server's regions, or all of them.
  void Put(const ServerName& server, const std::vector<RegionReading>& readings, TimePoint now);
  // By that server; nothing: it has not reported the region twice yet.
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
