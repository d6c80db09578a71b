// "ddl": creates, disables, enables, deletes and moves, and knows the required state of each table. Similar to HBase's
// IntegrationTestDDLMasterFailover.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// Every table has one client, so its state follows from that client's answers; moves affect all tables. Every procedure
// that a master accepted must have ended exactly once, despite failures of masters.
[[nodiscard]] std::unique_ptr<Workload> MakeDdl(WorkloadContext context);

}  // namespace ratchet::chaos
