// The load "replication": rows are written to a table that is shipped to a second cluster, while processes of both die,
// the peer is disabled and enabled, and the link between them is cut. Afterwards, with the peer enabled and the link
// whole, both clusters must have the same rows, every acknowledged one among them.
//
// Nothing is deleted: a delete marker may go out of the second cluster by a compaction before an older put arrives
// there (docs/replication.md, "Not in order over servers").
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// Needs context.second; Prepare says so where there is none.
[[nodiscard]] std::unique_ptr<Workload> MakeReplication(WorkloadContext context);

}  // namespace ratchet::chaos
