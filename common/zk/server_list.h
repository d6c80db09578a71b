// A setting that names ZooKeeper's servers: "host:port,[IPv6 address]:port", optionally followed by a path. Pure,
// thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/host_port.h"

namespace ratchet::zk {

struct ServerList {
  std::vector<HostPort> members;
  std::string root;  // "/path", or empty

  // The list for libzookeeper, with the addresses of each host; hosts without any are left out. Empty: no host has an
  // address.
  [[nodiscard]] std::string Numeric(const std::map<std::string, std::vector<std::string>>& addresses) const;
};

// Returns nullopt for a text that is not a list of servers.
[[nodiscard]] std::optional<ServerList> ParseServerList(std::string_view servers);

}  // namespace ratchet::zk
