// What does not work, from what the servers that live can do, not from what was last recorded of them: one line each,
// with how long it has been so, for `ratchet status`.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/model/server_name.h"
#include "master/service/master_gate.h"
#include "master/state/region_directory.h"

namespace ratchet::master {

// A region that has been refused this often in a row does not get on by itself soon.
inline constexpr std::uint32_t kStuckRefusals = 3;

// Whether its server lives: an OPEN region on a dead one is not open.
[[nodiscard]] bool IsServed(const RegionNode& region, const std::set<ServerName>& live);
// At most a few lines of each kind, with how many more there are. `regions`: at least those that are in transition, or
// located at a server that does not live.
[[nodiscard]] std::vector<std::string> FindProblems(const ActiveParts& parts, const std::vector<RegionNode>& regions,
                                                    TimePoint now, std::int64_t now_ms);
// Procedures that such regions wait for and whose attempts do not show it.
[[nodiscard]] std::size_t CountRefused(const ActiveParts& parts, const std::vector<RegionNode>& regions,
                                       std::uint32_t shown_attempts);

}  // namespace ratchet::master
