// Restarts every master and every region server of a local cluster, one by one, while clients go on.
//
// A standby is stopped, started and waited for, the active master last; a region server is drained, stopped, started,
// waited for, and taken back with the regions that it had. The first problem ends it: the error says which process and
// which step, and that process is left as it is; a drained server stays drained, so that the operator can look.
#pragma once

#include <functional>
#include <string>

#include "chaos/cluster/gap_probe.h"
#include "chaos/cluster/process_cluster.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct RollingRestartOptions {
  Millis timeout{60'000};                            // of each step of each process
  std::function<void(const std::string& line)> say;  // progress
};

// What clients saw during the whole of it: see GapProbe. kFailedPrecondition without starting anything when the cluster
// does not serve, or has only one region server.
[[nodiscard]] Result<LongestOperation> RollingRestart(ProcessCluster& cluster, const RollingRestartOptions& options);

}  // namespace ratchet::chaos
