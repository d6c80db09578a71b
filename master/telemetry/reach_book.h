// Region servers that request registration and that this master cannot reach at their advertised address. Such a server
// never becomes ONLINE, because its regions would hang until it is expired, repeatedly.
//
// Thread-safe; memory only; bounded by kMostUnreached addresses with a request within kUnreachedAge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"

namespace ratchet::master {

inline constexpr Millis kUnreachedAge{15'000};  // a server retries within a few seconds
inline constexpr std::size_t kMostUnreached = 1'000;

class ReachBook {
 public:
  struct Problem {
    std::string text;
    std::string verb;
    TimePoint since{};
  };

  // Records `why` this master cannot reach the server. Returns true if this is new for its address.
  bool NotReached(const ServerName& server, const std::string& why, TimePoint now);
  void Reached(const ServerName& server);
  [[nodiscard]] std::vector<Problem> Problems(TimePoint now) const;

 private:
  using Address = std::pair<std::string, std::uint16_t>;
  struct Page {
    std::string name;
    std::string why;
    TimePoint since{};
    TimePoint last{};
  };
  mutable Mutex mutex_;
  std::map<Address, Page> pages_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
