// The load "splits": splits and merges regions of the other loads' tables, while those go on. What it must not do is
// change what they see: they check their rows. Afterwards each table has regions for all of its keys, without a hole
// and without an overlap, and every procedure that was accepted has ended once.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeSplits(WorkloadContext context);

}  // namespace ratchet::chaos
