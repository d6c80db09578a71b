// Listen addresses of a master and of its page, and its threads and queue sizes for each kind of request. Pure.
#pragma once

#include <cstdint>
#include <memory>

#include "common/ops/page/info_page.h"
#include "common/rpc/server_options.h"
#include "master/process/master_config.h"

namespace ratchet::master {

// `port`: the port in this master's name.
[[nodiscard]] rpc::ServerOptions ListenOptions(const MasterConfig& config, std::uint16_t port,
                                               std::shared_ptr<const rpc::MemberIdentity> member);

[[nodiscard]] page::InfoPageOptions PageOptions(const MasterConfig& config, const rights::Judge& judge);

}  // namespace ratchet::master
