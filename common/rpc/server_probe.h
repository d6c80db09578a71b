// One probe of a region server: does its process still answer at its address?
#pragma once

#include "common/model/server_name.h"
#include "common/rpc/address_probe.h"
#include "common/rpc/channel_pool.h"

namespace ratchet::rpc {

// Connects, and asks the process that accepts for its name. Blocks for at most about twice `patience`. Not on a thread
// of `channels`.
[[nodiscard]] ProbeFinding ProbeServer(ChannelPool& channels, const ServerName& server, Millis patience);

}  // namespace ratchet::rpc
