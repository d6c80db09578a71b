// Finds current problems for `ratchet status`, from the state of live servers, not from their last records: one line
// each, with its duration.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/model/server_name.h"
#include "master/cluster/region_directory.h"
#include "master/rpc/master_gate.h"

namespace ratchet::master {

// After this number of refusals in a row, a region is unlikely to open soon.
inline constexpr std::uint32_t kStuckRefusals = 3;

// Returns true if the region's server lives: an OPEN region on a dead server does not serve.
[[nodiscard]] bool IsServed(const RegionNode& region, const std::set<ServerName>& live);
// Returns a few lines of each kind, with the number of omitted ones. `regions` must include all regions in transition
// or located at a dead server.
[[nodiscard]] std::vector<std::string> FindProblems(const ActiveParts& parts, const std::vector<RegionNode>& regions,
                                                    TimePoint now, std::int64_t now_ms);
// Number of stuck procedures whose attempts do not show it: procedures that such regions wait for, flushes and
// compactions of tables, splits of logs.
[[nodiscard]] std::size_t CountRefused(const ActiveParts& parts, const std::vector<RegionNode>& regions,
                                       std::uint32_t shown_attempts);

}  // namespace ratchet::master
