// "bank": transfers between the columns of a row. A half-changed row, or a change that is lost or done twice, shows in
// the sum and the version.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeBank(WorkloadContext context);

}  // namespace ratchet::chaos
