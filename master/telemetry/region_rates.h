// RegionRates: request rate and size of each region, as its server reports them with heartbeats. A report has readings
// of regions that changed. The end of a round (load_turns.h) shows that all other regions did not change; without one,
// the rate of a region without a reading is unknown and stays. In memory only: a hint that only plans use. Thread-safe.
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

// The other facts of the report that has the readings.
struct RegionRound {
  bool complete = false;     // the report ends a round: regions without a reading in it have not changed
  std::uint64_t listed = 0;  // open regions of the server
};

class RegionRates {
 public:
  static constexpr Millis kKeep{10 * 60'000};  // for a region that no server reports

  // Stores readings of some or all regions of the server.
  void Put(const ServerName& server, const std::vector<RegionReading>& readings, TimePoint now,
           const RegionRound& round = {});
  // Returns the rate at that server; nullopt until the server has reported the region twice.
  [[nodiscard]] std::optional<RegionRate> Of(const ServerName& server, std::string_view region) const;
  [[nodiscard]] std::size_t size() const;

 private:
  // A master has one for each region, so it names its server by a number.
  struct Known {
    std::uint32_t server = 0;
    bool twice = false;
    std::uint64_t requests = 0;
    TimePoint at{};
    std::uint64_t round = 0;  // of the server, in which it was read
    RegionRate rate;
  };
  struct Server {
    std::uint32_t number = 0;  // given once; 0 is nobody's
    std::uint64_t rounds = 0;  // complete ones
    std::uint64_t listed = 0;
    TimePoint at{};
  };
  [[nodiscard]] static std::uint64_t QuietRounds(const Known& known, const Server& server);
  void ForgetOld(TimePoint now) REQUIRES(mutex_);
  mutable Mutex mutex_;
  std::map<std::string, Known, std::less<>> regions_ GUARDED_BY(mutex_);
  std::map<ServerName, Server> servers_ GUARDED_BY(mutex_);
  std::uint32_t numbers_ GUARDED_BY(mutex_) = 0;  // that were given
  TimePoint swept_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::master
