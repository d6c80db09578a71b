// ServiceEnv of a master whose process does nothing else: no standby, and nothing happens on a stop. For tests.
#pragma once

#include <string>
#include <vector>

#include "master/rpc/master_services.h"

namespace ratchet::master {

[[nodiscard]] inline ServiceEnv QuietServiceEnv(MasterGate& gate, LoadBook& loads) {
  return {gate,
          loads,
          "/root",
          [] { return std::vector<ServerName>{}; },
          [](const std::string& /*why*/) {},
          [](const std::string& /*why*/) {}};
}

}  // namespace ratchet::master
