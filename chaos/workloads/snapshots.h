// The load "snapshots": rows that only grow are written while snapshots of their table are taken, cloned and deleted.
// Each clone must hold, row by row, a state that the row had between the begin and the end of its snapshot, wholly:
// every row that was acknowledged before it began, and nothing that was not asked for before it ended.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeSnapshots(WorkloadContext context);

}  // namespace ratchet::chaos
