// Sends the regular report to the master, and triggers a check of the own log directory on another thread: a server
// that was fenced while it was paused or idle finds out then, and ends. No method waits for storage, so that the master
// gets reports of a server whose storage hangs.
//
// Runs on the timers' thread and on RPC callbacks; one report in flight at a time. Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"
#include "common/model/proto/region_server_status.pb.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/process/master_link.h"

namespace ratchet::regionserver {

struct HeartbeatOptions {
  Live<Millis> interval{Millis{1000}};

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddMillis(
        {"report-interval-ms", "Time between two reports to the master.", {"hbase.regionserver.msginterval"}},
        &interval, Millis(10), Millis(60'000));
  }
};

struct HeartbeatParts {
  std::function<void(pb::RegionServerReportRequest& request)> fill;  // server name, load, open regions
  std::function<void()> look;  // starts a check of the own log directory; does not wait for it
  std::function<void(const pb::RegionServerReportResponse* answer)>
      answered;  // null: the master did not accept the report
};

class Heartbeat {
 public:
  // All parameters must outlive the heartbeat and its callbacks.
  Heartbeat(MasterLink& link, EpochGuard& epochs, Timers& timers, Live<Millis> interval, HeartbeatParts parts);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void Start();
  // Reports at once, because there is a new master.
  void Now();
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ratchet::regionserver
