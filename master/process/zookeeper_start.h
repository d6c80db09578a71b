// The first thing that a master wants of ZooKeeper: a session. It is tried until --zk-connect-timeout-ms has passed,
// and the log says so meanwhile. The thread of the process's start.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/zk/zk_session.h"
#include "master/process/master_config.h"

namespace ratchet::master {

class ZooKeeperStart {
 public:
  using End = std::function<void(int code, const std::string& why)>;
  // The time to try begins. All outlive this object; `end` is told why there is no session, unless an end was asked for
  // already.
  ZooKeeperStart(const MasterConfig& config, const Clock& clock, ExitLatch& exit, End end);

  // Null: there is none.
  [[nodiscard]] std::unique_ptr<zk::ZkSession> Open();
  // False: it does not connect in time.
  [[nodiscard]] bool AwaitConnected(zk::ZkSession& session);

 private:
  [[nodiscard]] Millis Left() const;

  const MasterConfig& config_;
  const Clock& clock_;
  ExitLatch& exit_;
  const End end_;
  const TimePoint deadline_;
};

}  // namespace ratchet::master
