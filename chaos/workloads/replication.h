// The load "replication": rows are written to a table that is shipped to a second cluster, while processes of both die,
// the peer is disabled and enabled, and the link between them is cut. Afterwards, with the peer enabled and the link
// restored, both clusters must have the same rows, including every acknowledged one.
//
// The load deletes no row, because a compaction may drop a delete marker in the second cluster before an older put
// arrives there (docs/replication.md, "Not in order over servers").
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

// Needs context.second; without it Prepare returns an error.
[[nodiscard]] std::unique_ptr<Workload> MakeReplication(WorkloadContext context);

}  // namespace ratchet::chaos
