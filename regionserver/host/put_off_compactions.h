// Compactions that lacked disk space (S90: compactions leave space). They are retried every few seconds and reported to
// the master meanwhile.
//
// Bounded by the open regions: one entry for each region and kind, removed when the compaction has run or the region
// has left. Owner: the region host. Thread-safe; memory only.
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
  static constexpr std::size_t kAtOnce = 64;  // number retried together

  // Adds a compaction that lacked space, and logs it if it is new.
  void Add(const Compaction& compaction, const Error& why);
  // Removes a compaction that has run, or whose region has left.
  void Remove(const Compaction& compaction);
  [[nodiscard]] bool Has(const Compaction& compaction) const;
  // Returns the compactions to retry now, in turn; none within kPause after the last retry.
  [[nodiscard]] std::vector<Compaction> Due(TimePoint now);
  void Fill(hbase::pb::StorageReport& report) const;

 private:
  mutable Mutex mutex_;
  std::map<Compaction, std::string> waiting_ GUARDED_BY(mutex_);  // with the reason
  Compaction last_ GUARDED_BY(mutex_);                            // the last one that was retried
  TimePoint tried_at_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::regionserver
