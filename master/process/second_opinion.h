// A second process must find what this one found: a firewall at this machine looks like the death of everything else.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/rpc/address_probe.h"

namespace ratchet::master {

// Has `other` run a series of probes of `suspect`. Blocks for about a second at most.
using AskForOpinion = std::function<Result<rpc::ProbeVerdict>(const ServerName& other, const ServerName& suspect)>;

// Asks a few of the region servers `online` until one answers. Returns the name of the server that confirms the death;
// empty if it does not, or if none answers. Blocks as `ask` does.
[[nodiscard]] std::string ConfirmDeath(const ServerName& suspect, const std::vector<ServerName>& online,
                                       const AskForOpinion& ask);

}  // namespace ratchet::master
