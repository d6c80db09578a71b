// The load "drain": servers are drained and taken back while the other loads go on, which must notice nothing. A server
// that was drained has no region while it is decommissioned and others serve; at the end every mark is taken back.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeDrain(WorkloadContext context);

}  // namespace ratchet::chaos
