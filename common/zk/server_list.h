// The shape of a setting that names ZooKeeper's servers. Pure, thread-safe.
#pragma once

#include <string_view>

namespace ratchet::zk {

// "host:port,host:port", perhaps with a path behind: what is wrong with such a list is that a name is unknown for now.
[[nodiscard]] bool LooksLikeServerList(std::string_view servers);

}  // namespace ratchet::zk
