// The load "alter": a table is altered while its rows are written and read. Families are added and dropped, attributes
// of the table and of families change. No acknowledged cell of a family that stays may be lost, no cell of a dropped
// family may return, and at the end the table has the descriptor of the last acknowledged change.
#pragma once

#include <memory>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Workload> MakeAlter(WorkloadContext context);

}  // namespace ratchet::chaos
