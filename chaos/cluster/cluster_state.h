// The file cluster.state: what a cluster in a directory consists of, so that a later run finds it again.
//
// Plain text, one "key<TAB>value..." a line, replaced as a whole by rename. Not thread-safe.
#pragma once

#include <filesystem>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "chaos/cluster/zookeeper_config.h"

namespace ratchet::chaos {

struct ClusterState {
  ClusterSpec spec;  // without the environment: that of one run is not that of the next
  std::vector<ProcessInfo> processes;
  std::vector<ZooKeeperPeer> zookeeper_peers;  // in the order of the members; none when there is only one
};

[[nodiscard]] std::filesystem::path StateFile(const std::filesystem::path& dir);
[[nodiscard]] Status SaveState(const ClusterState& state);
// kNotFound when the directory holds no cluster; kCorruption names a line.
[[nodiscard]] Result<ClusterState> LoadState(const std::filesystem::path& dir);

}  // namespace ratchet::chaos
