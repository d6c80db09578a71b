// What region servers report of their processes: how often they have come again by themselves, whether fault points
// are allowed in them, how many descriptors they use, what of the disk is theirs and free. Thread-safe; memory only;
// bounded by the servers that have reported within kPastPageAge.
#pragma once

#include <map>
#include <optional>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/mutex.h"
#include "common/base/start_again.h"
#include "common/model/server_name.h"

namespace ratchet::master {

inline constexpr Millis kPastPageAge{60'000};

struct ProcessNote {
  PastLives past;
  bool fault_points_allowed = false;
  DescriptorUse descriptors{};                     // limit 0: not told
  std::uint32_t info_port = 0;                     // of its page; 0: it has none
  std::optional<std::uint32_t> log_files{};        // that no manifest covers; none: not told
  std::optional<std::uint64_t> disk_free_bytes{};  // below the root; none: not told
};

class PastBook {
 public:
  void Put(const ServerName& server, ProcessNote note, TimePoint now) {
    MutexLock lock(mutex_);
    std::erase_if(pages_, [now](const auto& entry) { return now - entry.second.at > kPastPageAge; });
    pages_[server] = Page{std::move(note), now};
  }
  [[nodiscard]] std::optional<ProcessNote> Get(const ServerName& server) const {
    MutexLock lock(mutex_);
    const auto found = pages_.find(server);
    if (found == pages_.end()) return std::nullopt;
    return found->second.note;
  }

 private:
  struct Page {
    ProcessNote note;
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
