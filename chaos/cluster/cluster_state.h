// The file cluster.state: configuration and processes of a cluster in a directory, so that a later run finds it again.
//
// Plain text, one "key<TAB>value..." per line, replaced as a whole by rename. Not thread-safe.
#pragma once

#include <filesystem>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "chaos/cluster/zookeeper_config.h"

namespace ratchet::chaos {

struct ClusterState {
  ClusterSpec spec;      // without the environment, which differs from run to run
  Environment settings;  // RATCHET_... variables of the shells that ran `ratchet-cluster up`
  std::vector<ProcessInfo> processes;
  std::vector<ZooKeeperPeer> zookeeper_peers;  // in the order of the members; none when there is only one
};

[[nodiscard]] std::filesystem::path StateFile(const std::filesystem::path& dir);
[[nodiscard]] Status SaveState(const ClusterState& state);
// kNotFound when the directory holds no cluster; kCorruption names a line.
[[nodiscard]] Result<ClusterState> LoadState(const std::filesystem::path& dir);

}  // namespace ratchet::chaos
