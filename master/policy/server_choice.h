// Lists the servers to which regions may move. Pure functions of what Membership and Decommissions show.
#pragma once

#include <vector>

#include "common/model/server_name.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/membership.h"

namespace ratchet::master {

// Servers that are online, not draining and not decommissioned, so regions may move to them.
[[nodiscard]] std::vector<ServerName> EligibleServers(const Membership& members, const Decommissions& marks);
// Like EligibleServers; the decommissioned servers if there is no other, because regions must be open somewhere.
[[nodiscard]] std::vector<ServerName> AssignableServers(const Membership& members, const Decommissions& marks);
// Servers for system tables: those of AssignableServers with the newest version, if possible without `avoid`.
[[nodiscard]] std::vector<ServerName> NewestAssignableServers(const Membership& members, const Decommissions& marks,
                                                              const std::vector<ServerName>& avoid);

}  // namespace ratchet::master
