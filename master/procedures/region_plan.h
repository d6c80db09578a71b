// What a region's transition asks of placement, and what it needs before it may choose a server.
#pragma once

#include "master/assignment/placement.h"
#include "master/procedures/common.h"

namespace ratchet::master {

[[nodiscard]] PlacementRequest WhereTo(const pb::TransitRegionStateData& data);
// The server that closes the region can tell its clients where it goes only if that is planned before.
void PlanMove(MasterEnv& env, pb::TransitRegionStateData& data);
// False: the descriptor of the region's table cannot be read, so that no order to open the region may leave (S68).
[[nodiscard]] bool HasSchema(const MasterEnv& env, const pb::TransitRegionStateData& data);

}  // namespace ratchet::master
