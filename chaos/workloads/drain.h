// The load "drain": servers are drained and taken back while the other loads continue, which must not be affected. A
// drained server must have no region while it is decommissioned and others serve. At the end every server is taken
// back.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeDrain(WorkloadContext context);

}  // namespace ratchet::chaos
