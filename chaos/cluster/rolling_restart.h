// Restarts every master and every region server of a local cluster, one by one, while clients continue.
//
// Each standby is stopped, started and awaited, the active master last. Each region server is drained, stopped,
// started, awaited, and taken back with its previous regions. The first problem ends the restart: the error names
// process and step, and the process stays in its state; a drained server stays drained, so that the operator can
// examine it.
#pragma once

#include <functional>
#include <string>

#include "chaos/cluster/gap_probe.h"
#include "chaos/cluster/process_cluster.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct RollingRestartOptions {
  Millis timeout{60'000};                            // time limit of each step of each process
  std::function<void(const std::string& line)> say;  // reports progress
};

// Returns the longest operation of clients meanwhile: see GapProbe. kFailedPrecondition, without a restart, when the
// cluster does not serve or has only one region server.
[[nodiscard]] Result<LongestOperation> RollingRestart(ProcessCluster& cluster, const RollingRestartOptions& options);

}  // namespace ratchet::chaos
