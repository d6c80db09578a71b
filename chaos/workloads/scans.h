// "scans": full and partial scans, forward and reversed, while the rows are written; order, completeness and the
// version of each row are compared with what was written (scan_ledger.h).
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeScans(WorkloadContext context);

}  // namespace ratchet::chaos
