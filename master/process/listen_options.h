// Where a master listens, and how many threads and waiting requests it has for each kind. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/rpc/server_options.h"
#include "master/process/master_config.h"

namespace ratchet::master {

// `port`: the one of this master's name.
[[nodiscard]] rpc::ServerOptions ListenOptions(const MasterConfig& config, std::uint16_t port,
                                               const std::string& cluster_key);

}  // namespace ratchet::master
