// What a region's transition asks of placement, and what it needs before it may choose a server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/procedures/common.h"
#include "master/state/placement.h"

namespace ratchet::master {

struct RegionNode;

// What is on record of the region's state; OFFLINE where nothing is.
[[nodiscard]] RegionState RegionStateOf(const pb::TransitRegionStateData& data);
[[nodiscard]] PlacementRequest WhereTo(const pb::TransitRegionStateData& data);
// Where `request` may be placed: a region of the system's on servers of the newest version, unless an operator named
// another one that can take it.
[[nodiscard]] std::vector<ServerName> ServersFor(const MasterEnv& env, const pb::TransitRegionStateData& data,
                                                 const PlacementRequest& request);
// The server that closes the region can tell its clients where it goes only if that is planned before.
void PlanMove(MasterEnv& env, pb::TransitRegionStateData& data);
// False: the descriptor of the region's table cannot be read, so that no order to open the region may leave (S68).
[[nodiscard]] bool HasSchema(const MasterEnv& env, const pb::TransitRegionStateData& data);
// Open with a descriptor below `number`, or with one that is not known.
[[nodiscard]] bool IsOpenBelow(const RegionNode& node, std::uint64_t number);
// Number of the present descriptor of the region's table: an order that is made now pins it (S48). 0: none.
[[nodiscard]] std::uint64_t DescriptorOf(const MasterEnv& env, const pb::TransitRegionStateData& data);

// The region cannot be opened, no server has it, and a procedure that gives it up waits for it (S84): `owner` lets go,
// and this says so.
[[nodiscard]] std::optional<std::string> LetGoOfGivenUp(MasterEnv& env, const pb::TransitRegionStateData& data,
                                                        ProcId owner);

// What the caller is told of an end that is not the one that was asked for: the region is closed because its table is
// being disabled, or a move ended on another server. Empty where it did what was asked for.
[[nodiscard]] std::string ClosedBecause(const pb::TransitRegionStateData& data);
[[nodiscard]] std::string OpenedBecause(const pb::TransitRegionStateData& data);

}  // namespace ratchet::master
