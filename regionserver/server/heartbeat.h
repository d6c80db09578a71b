// The regular report to the master, and the look at the own log directory that goes with it, elsewhere: a server that
// was fenced while it was paused or idle finds out there at the latest, and leaves. Nothing here waits for storage, so
// that the master hears of a server whose storage hangs.
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
#include "regionserver/server/master_link.h"

namespace ratchet::regionserver {

struct HeartbeatParts {
  std::function<void(pb::RegionServerReportRequest& request)> fill;  // server name, load, open regions
  std::function<void()> look;  // has the own log directory looked at; does not wait for it
  std::function<void(const pb::RegionServerReportResponse* answer)>
      answered;  // null: the master did not take the report
};

class Heartbeat {
 public:
  // All must outlive the heartbeat and its callbacks.
  Heartbeat(MasterLink& link, EpochGuard& epochs, Timers& timers, Live<Millis> interval, HeartbeatParts parts);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void Start();
  // Reports at once, out of turn: there is a new master.
  void Now();
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ratchet::regionserver
