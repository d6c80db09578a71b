// A requested stop of this server (S73: orderly stop): each heartbeat reports that the server is leaving, and it
// continues to serve until the master reports that all of its regions are open elsewhere.
//
// Safety does not depend on the master's answer: a server that ends early leaves its regions to a crash procedure.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/model/proto/region_server_status.pb.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

struct OrderlyStopOptions {
  Live<Millis> drain_timeout{Millis{30'000}};
  Live<Millis> flush_timeout{Millis{10'000}};

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddMillis(
        {"drain-timeout-ms",
         "At a requested stop: how long to wait until this server's regions are open elsewhere; 0: do not wait.",
         {}},
        &drain_timeout, Millis(0), Millis(3'600'000));
    settings.AddMillis(
        {"stop-timeout-ms", "At a requested stop: time limit for flushes; unflushed data remains in the log.", {}},
        &flush_timeout, Millis(0), Millis(600'000));
  }
};

struct OrderlyStopParts {
  std::function<void()> report;            // sends a heartbeat at once
  std::function<bool()> master_is_active;  // according to ZooKeeper
  std::function<std::size_t()> regions;    // number of regions open here
};

class OrderlyStop {
 public:
  explicit OrderlyStop(const Clock& clock) : clock_(clock) {}

  // True when heartbeats report that this server is leaving.
  [[nodiscard]] bool asked() const { return asked_; }
  // Takes the master's answer to a heartbeat; null: no answer came.
  void Answered(const pb::RegionServerReportResponse* answer);

  // Returns when the master allows the end, when no master is active that could move the regions (at once, or
  // kMasterless after the last one was seen), when `limit` has passed, or when this server is no longer a member of the
  // cluster. Returns false in the last case.
  [[nodiscard]] bool HandOver(Millis limit, const ExitLatch& exit, const OrderlyStopParts& parts);

  // Time that a failover of the master may take.
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
