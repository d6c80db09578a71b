// A requested stop of this server (S73): it tells the master with each heartbeat that it is leaving, and goes on
// serving until the master says that all of its regions are open elsewhere.
//
// Nothing rests on the master's word: a server that ends early leaves its regions to a crash procedure. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/region_server_status.pb.h"
#include "regionserver/server/exit_latch.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

struct DepartureParts {
  std::function<void()> report;            // a heartbeat, at once
  std::function<bool()> master_is_active;  // as ZooKeeper says
  std::function<std::size_t()> regions;    // that are open here
};

class Departure {
 public:
  explicit Departure(const Clock& clock) : clock_(clock) {}

  // Heartbeats say that this server is leaving.
  [[nodiscard]] bool asked() const { return asked_; }
  // The master's answer to a heartbeat; null: there was none.
  void Answered(const pb::RegionServerReportResponse* answer);

  // Returns when the master lets this server go, when no master is there that could move the regions (at once, or
  // kMasterless after the last one was seen), when `limit` has passed, or when this server is no member of the cluster
  // any more. False: the last of these.
  [[nodiscard]] bool HandOver(Millis limit, const ExitLatch& exit, const DepartureParts& parts);

  // So long a failover of the master may take.
  static constexpr Millis kMasterless{5'000};

 private:
  [[nodiscard]] bool AwaitWord(Millis pause);

  const Clock& clock_;
  std::atomic<bool> asked_{false};
  Mutex mutex_;
  CondVar changed_;
  bool may_leave_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::regionserver
