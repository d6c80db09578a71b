// Which servers there are and where the regions are, as the active master tells. Blocking; any thread.
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
// By server: encoded names of the regions there, hbase:meta's included; those that were split or merged are left out.
[[nodiscard]] Result<std::map<ServerName, std::vector<std::string>>> RegionsByServer(client::Admin& admin);

// Each of the servers that can have regions has its share: no two of them differ by more than one. Pure.
[[nodiscard]] Finding JudgeShares(const std::map<std::string, std::size_t>& regions_of_server);

}  // namespace ratchet::chaos
