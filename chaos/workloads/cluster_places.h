// Servers and their regions, according to the active master. Blocking; any thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "chaos/workloads/workload.h"
#include "common/client/admin.h"
#include "common/model/server_name.h"

namespace ratchet::chaos {

[[nodiscard]] Result<std::set<ServerName>> OnlineServers(client::Admin& admin);
// Returns the encoded names of the regions by server, including hbase:meta's, without those that were split or merged.
[[nodiscard]] Result<std::map<ServerName, std::vector<std::string>>> RegionsByServer(client::Admin& admin);

// Checks that the numbers of regions of any two servers that can have regions differ by at most one. Pure.
[[nodiscard]] Finding JudgeShares(const std::map<std::string, std::size_t>& regions_of_server);

}  // namespace ratchet::chaos
