// What a cluster says of itself, seen from outside: what is registered in ZooKeeper, what a master answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/server_name.h"

namespace ratchet::chaos {

// One attempt a call, with a short time-out: callers poll. Not thread-safe.
class ClusterView {
 public:
  explicit ClusterView(std::string zookeeper);
  ~ClusterView();
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  // The registered active master; kNotFound when there is none.
  [[nodiscard]] Result<ServerName> RegisteredMaster();
  // GetStatus of the master at this port of the loopback.
  [[nodiscard]] Result<pb::GetStatusResponse> StatusAt(std::uint16_t port);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// OK when the master's status says what ProcessCluster::WaitServing waits for; `processes` is what really runs.
[[nodiscard]] Status CheckServing(const pb::GetStatusResponse& status, const std::vector<ProcessInfo>& processes);

}  // namespace ratchet::chaos
