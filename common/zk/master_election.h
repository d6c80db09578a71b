// Decides which master is active: the ephemeral node <parent>/master. A standby registers under <parent>/backup-masters
// and waits. The active master watches its node, and writes it again when another client has changed it. An election
// only permits a master to try: the procedure store's claim decides which one owns the cluster (S7: seal before acting,
// to S9: claims are never removed), so a mistaken election does no harm.
//
// Lifecycle: construct, Start, [OnElected, [OnLost]], Stop. Callbacks run on the session's thread, at most one
// OnElected; after it at most one OnLost, which is final (expired session, or the node vanished or is another's): the
// owner ends the process. Thread-safe.
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
    // Standby only, for log and status: the active master, if any. May be empty.
    std::function<void(const std::optional<ServerName>&)> on_active_changed;
    // Standby only: the reason why no master can be elected; empty: the obstacle is gone. May be empty.
    std::function<void(const std::string& why)> on_obstacle{};
  };

  // `session` must outlive the election.
  MasterElection(ZkSession& session, ZkPaths paths, MasterNode self, Callbacks callbacks);
  ~MasterElection();
  MasterElection(const MasterElection&) = delete;
  MasterElection& operator=(const MasterElection&) = delete;

  // Takes part from now on; also before the session is connected.
  void Start();
  // S121 (early findings are positive): `dead`, the active master, was found to be gone. A standby replaces its node by
  // its own ahead of the end of its session, unless another election took place meanwhile. Returns at once.
  void ReplaceDead(const ServerName& dead);
  // Deletes the node (only if it is ours), so that a standby is elected at once. No callback begins after it returns.
  void Stop();
  [[nodiscard]] bool elected() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Returns why the node <parent>/master is not a registration of a master, and the remedy: the node is persistent, so it
// never disappears by itself, or its content does not name a master. Returns nullopt if the node is a registration.
// Pure.
[[nodiscard]] std::optional<std::string> MasterNodeProblem(const NodeData& node, const ZkPaths& paths);

// The node of the elected master with the number of elections. The next master's node has the same version, so only the
// number distinguishes the two.
struct ElectedNode {
  NodeData node;
  std::int32_t elections = 0;
};
[[nodiscard]] Result<ElectedNode> ReadElected(ZkSession& session, const ZkPaths& paths);
// An error (kFailedPrecondition or kNotFound): it is no longer this node, and nothing is removed.
[[nodiscard]] Status RemoveElected(ZkSession& session, const ZkPaths& paths, const ElectedNode& elected);

// Returns the master that is registered as active: kNotFound when there is none.
[[nodiscard]] Result<MasterNode> ReadMaster(ZkSession& session, const ZkPaths& paths);
[[nodiscard]] Result<std::vector<ServerName>> ReadBackupMasters(ZkSession& session, const ZkPaths& paths);

}  // namespace ratchet::zk
