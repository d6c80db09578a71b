// "huge-rows": writes at the edge of the limits, and now and then beyond it. What is within comes back whole; what is
// beyond is refused by name.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeHugeRows(WorkloadContext context);

}  // namespace ratchet::chaos
