// "huge-rows": writes at the edge of the limits, and sometimes beyond. Rows within the limits must be read back
// completely; requests beyond must be refused with the right error.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeHugeRows(WorkloadContext context);

}  // namespace ratchet::chaos
