// How often the processes of region servers have come again by themselves, as they report it. Thread-safe; memory only; bounded
// by the servers that have reported within kPastPageAge.
#pragma once

#include <map>
#include <optional>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/start_again.h"
#include "common/model/server_name.h"

namespace ratchet::master {

inline constexpr Millis kPastPageAge{60'000};

class PastBook {
 public:
  void Put(const ServerName& server, PastLives past, TimePoint now) {
    MutexLock lock(mutex_);
    std::erase_if(pages_, [now](const auto& entry) { return now - entry.second.at > kPastPageAge; });
    pages_[server] = Page{std::move(past), now};
  }
  [[nodiscard]] std::optional<PastLives> Get(const ServerName& server) const {
    MutexLock lock(mutex_);
    const auto found = pages_.find(server);
    if (found == pages_.end()) return std::nullopt;
    return found->second.past;
  }

 private:
  struct Page {
    PastLives past;
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
