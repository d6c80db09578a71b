// "host,port": the key for start codes, for decommission marks and for the lock of an address.
#pragma once

#include <string>

#include "common/model/server_name.h"

namespace ratchet::master {

[[nodiscard]] inline std::string AddressKey(const ServerName& server) {
  return server.host + "," + std::to_string(server.port);
}

}  // namespace ratchet::master
