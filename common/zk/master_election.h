// Which master is active: the ephemeral node <parent>/master. A standby registers under <parent>/backup-masters and
// waits. The active master watches its node, and writes it again when another client has changed it. Being elected only
// means being allowed to try: the procedure store's claim decides which one owns the cluster (rules S7 to S9), so a
// mistaken election does no harm.
//
// Lifecycle: construct, Start, [OnElected, [OnLost]], Stop. Callbacks run on the session's thread, at most one
// OnElected; after it at most one OnLost, which is final (expired session, or the node vanished or is another's): the
// owner leaves the process. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "common/zk/znode_codec.h"

namespace ratchet::zk {

class MasterElection {
 public:
  struct Callbacks {
    std::function<void()> on_elected;
    std::function<void(const std::string& why)> on_lost;  // also for a standby whose session expired
    // Standby only, for log and status: which one is active now, if any. May be empty.
    std::function<void(const std::optional<ServerName>&)> on_active_changed;
  };

  // `session` must outlive the election.
  MasterElection(ZkSession& session, ZkPaths paths, MasterNode self, Callbacks callbacks);
  ~MasterElection();
  MasterElection(const MasterElection&) = delete;
  MasterElection& operator=(const MasterElection&) = delete;

  // Takes part from now on; also before the session is connected.
  void Start();
  // Gives the node back (only if it is ours), so that a standby is elected at once. No callback begins after it
  // returns.
  void Stop();
  [[nodiscard]] bool elected() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Which one is registered as active: kNotFound when none is.
[[nodiscard]] Result<MasterNode> ReadMaster(ZkSession& session, const ZkPaths& paths);
[[nodiscard]] Result<std::vector<ServerName>> ReadBackupMasters(ZkSession& session, const ZkPaths& paths);

}  // namespace ratchet::zk
