// Sends the stop requests of a cluster shutdown to the region servers.
#pragma once

#include <string>
#include <vector>

#include "common/model/server_name.h"
#include "common/rpc/channel_pool.h"

namespace ratchet::master {

// Returns at once; logs servers that cannot be reached.
void SendStopRequests(rpc::ChannelPool& channels, const std::vector<ServerName>& servers, const std::string& why);

}  // namespace ratchet::master
