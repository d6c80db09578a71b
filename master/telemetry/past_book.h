// Process data that region servers report: automatic restarts, whether fault injection is allowed, used descriptors,
// used and free disk space, and how they are protected. Thread-safe; memory only; bounded by the servers that have
// reported within about kPastPageAge.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/mutex.h"
#include "common/base/self_restart.h"
#include "common/model/proto/security.pb.h"
#include "common/model/server_name.h"
#include "master/telemetry/page_sweep.h"

namespace ratchet::master {

inline constexpr Millis kPastPageAge{60'000};
// With less free space than this below the root, compactions (--keep-free-bytes) and the history wait; the rest is
// reserved for logs, flushes and the procedure store.
inline constexpr std::uint64_t kDiskLow = 128U << 20;

struct ProcessNote {
  RestartHistory past;
  bool fault_points_allowed = false;
  DescriptorUse descriptors{};                             // limit 0: not reported
  std::uint32_t info_port = 0;                             // port of its page; 0 if it has none
  std::optional<std::uint32_t> log_files{};                // log files that no manifest covers; nullopt: not reported
  std::optional<std::uint64_t> disk_free_bytes{};          // below the root; nullopt: not reported
  std::vector<std::string> troubles{};                     // problems for the operator
  std::optional<ratchet::pb::ProcessSecurity> security{};  // nullopt: not reported
};

class PastBook {
 public:
  struct Low {
    std::string text;
    TimePoint since{};
  };
  void Put(const ServerName& server, ProcessNote note, TimePoint now) {
    MutexLock lock(mutex_);
    sweep_.Count(pages_, now, kPastPageAge);
    Page& page = pages_[server];
    if (note.disk_free_bytes.value_or(kDiskLow) >= kDiskLow)
      page.low_since.reset();
    else if (!page.low_since)
      page.low_since = now;
    page.note = std::move(note);
    page.at = now;
  }
  [[nodiscard]] std::optional<ProcessNote> Get(const ServerName& server) const {
    MutexLock lock(mutex_);
    const auto found = pages_.find(server);
    if (found == pages_.end()) return std::nullopt;
    return found->second.note;
  }
  // Returns the lowest free space that these servers report, if the disk below the root is nearly full; otherwise
  // nullopt.
  [[nodiscard]] std::optional<Low> LowDisk(const std::vector<ServerName>& servers) const {
    MutexLock lock(mutex_);
    std::optional<Low> low;
    std::uint64_t least = kDiskLow;
    for (const ServerName& server : servers) {
      const auto found = pages_.find(server);
      if (found == pages_.end() || !found->second.low_since) continue;
      const Page& page = found->second;
      if (*page.note.disk_free_bytes >= least) continue;
      least = *page.note.disk_free_bytes;
      low = Low{fmt::format("only {} MiB are free on the disk below the root, as {} reports", least >> 20U,
                            server.ToString()),
                *page.low_since};
    }
    return low;
  }

 private:
  struct Page {
    ProcessNote note;
    std::optional<TimePoint> low_since;  // since when its disk has less than kDiskLow free
    TimePoint at{};
  };
  mutable Mutex mutex_;
  std::map<ServerName, Page> pages_ GUARDED_BY(mutex_);
  PageSweep sweep_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
