// The process ratchet-master: root directory, RPC server, ZooKeeper, election; then the active master, until there is a
// reason to end.
//
// Exit codes: common/base/exit_codes.h. A clean stop (SIGTERM, StopMaster) lets running steps end and gives the
// election back; every other end leaves without touching anything.
#pragma once

#include <memory>
#include <string>

#include "common/base/exit_latch.h"
#include "common/base/start_again.h"
#include "master/process/master_config.h"

namespace ratchet::master {

class MasterProcess {
 public:
  // `exit` must outlive the process object.
  MasterProcess(MasterConfig config, ExitLatch& exit, ProcessLife life = {});
  ~MasterProcess();

  // Blocks until the process is to end; returns why. After a clean reason everything is stopped in order.
  [[nodiscard]] ExitReason Run();
  // Before the process comes again: no part waits for the end of the old session. Bounded, whatever hangs.
  void LeaveZooKeeper();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::master
