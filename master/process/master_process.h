// The process ratchet-master: root directory, RPC server, ZooKeeper, election; then the active master until the end of
// the process.
//
// Exit codes: common/base/exit_codes.h. A clean stop (SIGTERM, StopMaster) finishes running steps and releases the
// election; every other end makes no changes.
#pragma once

#include <memory>
#include <string>

#include "common/base/exit_latch.h"
#include "common/base/self_restart.h"
#include "master/process/master_config.h"

namespace ratchet::master {

class MasterProcess {
 public:
  // `exit` must outlive the process object.
  MasterProcess(MasterConfig config, ExitLatch& exit, ProcessLife life = {});
  ~MasterProcess();

  // Blocks until the process must end; returns the reason. After a clean reason all parts are stopped in order.
  [[nodiscard]] ExitReason Run();
  // Call before the process restarts, so that no part waits for the end of the old session. Bounded in time.
  void LeaveZooKeeper();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::master
