// Compactions that found no room on the disk (S90): tried again every few seconds, and told to the master meanwhile.
//
// Bounded by the open regions: one entry for each and kind, which goes when the compaction has run or its region has
// left. Owner: the region host. Thread-safe; memory only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/region_server_status.pb.h"

namespace ratchet::regionserver {

class PutOffCompactions {
 public:
  struct Compaction {
    std::string encoded_name;
    bool major = false;
    auto operator<=>(const Compaction&) const = default;
  };
  static constexpr Millis kPause{10'000};
  static constexpr std::size_t kAtOnce = 64;  // tried again together

  // It lacked room. One line of log for each that was not known yet.
  void Add(const Compaction& compaction, const Error& why);
  // It has run, or its region is not here any more.
  void Remove(const Compaction& compaction);
  [[nodiscard]] bool Has(const Compaction& compaction) const;
  // Those that are to be tried again now, in turn; none within kPause after the last time.
  [[nodiscard]] std::vector<Compaction> Due(TimePoint now);
  void Fill(hbase::pb::StorageReport& report) const;

 private:
  mutable Mutex mutex_;
  std::map<Compaction, std::string> waiting_ GUARDED_BY(mutex_);  // and why
  Compaction last_ GUARDED_BY(mutex_);                            // the last one whose turn it was
  TimePoint tried_at_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::regionserver
