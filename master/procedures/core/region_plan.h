// A region transition's requests to placement, and the conditions for choosing a server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/policy/placement.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

struct RegionNode;

// Returns the recorded state of the region; OFFLINE if none is recorded.
[[nodiscard]] RegionState RegionStateOf(const pb::TransitRegionStateData& data);
[[nodiscard]] PlacementRequest WhereTo(const pb::TransitRegionStateData& data);
// Returns the servers on which `request` may be placed: for a region of a system table the servers of the newest
// version, unless an operator named another suitable server.
[[nodiscard]] ServerNames ServersFor(MasterEnv& env, const pb::TransitRegionStateData& data,
                                     const PlacementRequest& request);
// For Placement::Choose: the numbers of regions of servers. `env` outlives the result.
[[nodiscard]] Placement::LoadOf LoadsOf(const MasterEnv& env);
// Plans the target before the close, so that the closing server can redirect its clients to it.
void PlanMove(MasterEnv& env, pb::TransitRegionStateData& data);
// Returns false if the descriptor of the region's table cannot be read, so that no open order may be sent (S68:
// unreadable schema is an error).
[[nodiscard]] bool HasSchema(const MasterEnv& env, const pb::TransitRegionStateData& data);
// Returns true if the region is open with a descriptor below `number`, or with an unknown one.
[[nodiscard]] bool IsOpenBelow(const RegionNode& node, std::uint64_t number);
// Returns the number of the table's current descriptor, which a new order pins (S48: schema pinned in the order); 0 if
// there is none.
[[nodiscard]] std::uint64_t DescriptorOf(const MasterEnv& env, const pb::TransitRegionStateData& data);

// S84 (give up a region by name): returns the procedure that gives the region up and waits for it, if the region cannot
// be opened and no server has it; otherwise an invalid id.
[[nodiscard]] ProcId GivenUpBy(const MasterEnv& env, const pb::TransitRegionStateData& data);

// S118 (older copy stays closed): ends the master if a server's refusal to open the region shows that the store or
// hbase:meta is an older copy.
void ReportIfWentBack(const MasterEnv& env, const std::string& encoded, const std::string& error_class,
                      const std::string& error_message);

// Returns why the region ended in another state than requested: it is closed because its table is being disabled, or a
// move ended on another server. Empty if the request was fulfilled.
[[nodiscard]] std::string ClosedBecause(const pb::TransitRegionStateData& data);
[[nodiscard]] std::string OpenedBecause(const pb::TransitRegionStateData& data);

}  // namespace ratchet::master
