// Makes the procedures that open many regions: AssignBatches for each server that gets enough of them, a
// TransitRegionState for each other region. Returns only; the caller spawns or submits them.
//
// Threads: steps of procedures.
#pragma once

#include <vector>

#include "master/cluster/region_directory.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

// `regions`: copies of the nodes as they are now. `retain`: prefer the server that had the region last.
[[nodiscard]] std::vector<ProcedurePtr> AssignAll(MasterEnv& env, const std::vector<RegionNode>& regions, bool retain);

}  // namespace ratchet::master
