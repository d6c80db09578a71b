// A second cluster of processes on this machine, in addition to the one that is broken.
//
// All work on its processes runs on one thread, which this object owns and which ends after them, because the kernel
// kills a child together with the thread that started it (PR_SET_PDEATHSIG). Calls wait for that thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "chaos/workloads/second_cluster.h"

namespace ratchet::chaos {

struct SecondClusterSpec {
  std::filesystem::path dir;  // must not hold a cluster
  std::filesystem::path bin;  // directory of its programs; empty: this program's directory
  int masters = 1;
  int servers = 2;
  Millis session_timeout{2'000};
  Millis boot_timeout{120'000};
  std::uint64_t seed = 1;
  // Ports of the first cluster's region servers, which are children of this program; their connections are the link.
  std::vector<std::uint16_t> first_servers;
};

// Starts the cluster; it serves when this returns.
[[nodiscard]] Result<std::unique_ptr<SecondCluster>> MakeLocalSecondCluster(SecondClusterSpec spec);

}  // namespace ratchet::chaos
