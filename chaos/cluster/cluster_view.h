// The state of a cluster as seen from outside: registrations in ZooKeeper and answers of a master.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "chaos/cluster/transition_watch.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/server_name.h"

namespace ratchet::chaos {

// Makes one attempt per call, with a short timeout, because callers poll. Not thread-safe.
class ClusterView {
 public:
  explicit ClusterView(std::string zookeeper);
  ~ClusterView();
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  // Returns the registered active master; kNotFound when there is none.
  [[nodiscard]] Result<ServerName> RegisteredMaster();
  // Calls GetStatus of the master at this loopback port.
  [[nodiscard]] Result<pb::GetStatusResponse> StatusAt(std::uint16_t port);
  // Asks the active master at this loopback port for the transitions in progress.
  [[nodiscard]] Result<TransitionWatch::Transitions> TransitionsAt(std::uint16_t port);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// OK when the master's status fulfils the conditions of ProcessCluster::WaitServing; `processes` are those that really
// run.
// `none_in_transition`: false leaves out the condition on transitions.
[[nodiscard]] Status CheckServing(const pb::GetStatusResponse& status, const std::vector<ProcessInfo>& processes,
                                  bool none_in_transition = true);

}  // namespace ratchet::chaos
