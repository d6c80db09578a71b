// Flushes regions in the background: those with a full memstore, the largest when the server's memory runs short, and
// all of them when the process stops. Each flush may lead to a compaction.
//
// Owner: RegionHost. Thread-safe. Flushes run on their lanes' threads. `mutex_` guards the set of waiting flushes;
// nothing is called while it is held.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "regionserver/host/compactor.h"
#include "regionserver/host/open_regions.h"
#include "regionserver/orders/lane_pool.h"

namespace ratchet::regionserver {

class Flusher {
 public:
  // All parameters outlive this object.
  Flusher(const OpenRegions& regions, Compactor& compactor, Lanes& lanes, const Clock& clock)
      : regions_(regions), compactor_(compactor), lanes_(lanes), clock_(clock) {}

  // Flushes in the background; at most one flush waits for each region.
  void Soon(const std::string& encoded_name);
  // Called when the server's memstores are too full together: flushes the largest, one at a time.
  void FlushLargest();
  // Flushes one region after the other until done or `deadline`.
  void FlushAll(TimePoint deadline);

 private:
  // Returns false when the flush failed.
  static bool Flush(Region& region);

  const OpenRegions& regions_;
  Compactor& compactor_;
  Lanes& lanes_;
  const Clock& clock_;
  std::atomic<bool> making_room_{false};
  Mutex mutex_;
  std::set<std::string> waiting_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
