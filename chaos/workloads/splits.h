// The load "splits": splits and merges regions of the other loads' tables, while those continue. The other loads check
// that their rows are not affected. Afterwards the regions of each table must cover all of its keys, without a hole or
// overlap, and every accepted procedure must have ended once.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeSplits(WorkloadContext context);

}  // namespace ratchet::chaos
