// "host,port": what start codes are compared within, what a decommission mark is of, and the name of the address's
// lock.
#pragma once

#include <string>

#include "common/model/server_name.h"

namespace ratchet::master {

[[nodiscard]] inline std::string AddressKey(const ServerName& server) {
  return server.host + "," + std::to_string(server.port);
}

}  // namespace ratchet::master
