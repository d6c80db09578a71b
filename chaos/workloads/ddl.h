// "ddl": creates, disables, enables, deletes and moves, and knows in which state each table must be. In the manner of
// HBase's IntegrationTestDDLMasterFailover.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// Every table has one client, so its state follows from what that client was told; moves go across all of them. Every
// procedure that a master accepted must have ended exactly once, whatever happened to masters meanwhile.
[[nodiscard]] std::unique_ptr<Workload> MakeDdl(WorkloadContext context);

}  // namespace ratchet::chaos
