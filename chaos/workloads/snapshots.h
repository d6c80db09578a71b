// The load "snapshots": rows with rising numbers are written while snapshots of their table are taken, cloned and
// deleted. Each row of a clone must have a complete state between the begin and the end of its snapshot: at least the
// number that was acknowledged before the begin, and at most the one that was requested before the end.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeSnapshots(WorkloadContext context);

}  // namespace ratchet::chaos
