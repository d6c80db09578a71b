// Runs compactions in the background and for orders of masters, at most one waiting of a kind for each region.
//
// Owner: RegionHost. Thread-safe. Compactions run on their lanes' threads, those of an order on the order's thread.
// `mutex_` guards the sets of waiting and running compactions; nothing is called while it is held.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/region_server_status.pb.h"
#include "regionserver/host/open_regions.h"
#include "regionserver/orders/lane_pool.h"

namespace ratchet::regionserver {

// Compactions that lacked disk space (S90: compactions leave space). They are retried every few seconds and reported to
// the master meanwhile.
//
// Bounded by the open regions: one entry for each region and kind, removed when the compaction has run or the region
// has left. Thread-safe; memory only.
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

class Compactor {
 public:
  // All parameters outlive this object.
  Compactor(const OpenRegions& regions, Lanes& lanes, const Clock& clock)
      : regions_(regions), lanes_(lanes), clock_(clock) {}

  // Compacts in the background.
  void Soon(const std::string& encoded_name, bool major);
  // Compacts now, for an order. A compaction that lacks space is not put off: the master asks again, and shows the
  // reason. kUnavailable when compactions are switched off.
  [[nodiscard]] Status Compact(Region& region, bool major);
  // True when a compaction runs, or waits for its turn or for disk space.
  [[nodiscard]] bool IsCompacting(const std::string& encoded_name, bool major) const;
  // Off: no compaction begins, and requests for one are ignored; a running one continues. On again: every open region
  // is checked. Returns the previous value; on after each start of the process.
  bool Switch(bool on);
  // Retries compactions that lacked disk space (S90: compactions leave space). Called periodically.
  void TryAgain();
  [[nodiscard]] const PutOffCompactions& put_off() const { return put_off_; }

 private:
  void CompactNow(const std::string& encoded_name, bool major);

  const OpenRegions& regions_;
  Lanes& lanes_;
  const Clock& clock_;
  std::atomic<bool> on_{true};
  PutOffCompactions put_off_;
  mutable Mutex mutex_;
  std::set<std::string> waiting_ GUARDED_BY(mutex_);
  std::multiset<std::string> running_ GUARDED_BY(mutex_);  // a run waits for another run of its region
};

}  // namespace ratchet::regionserver
