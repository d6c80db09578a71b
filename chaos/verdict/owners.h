// The owner of each region, according to the master, hbase:meta and the servers. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

struct OwnerViews {
  struct Known {
    std::string state;   // "OPEN"
    std::string server;  // empty: no server
  };
  // Keyed by encoded name.
  std::map<std::string, Known> master;
  std::map<std::string, std::string> meta;               // where clients are sent; without hbase:meta itself
  std::map<std::string, std::vector<std::string>> open;  // the servers that report the region as open
};

// Checks that every region with the master's state OPEN is open on exactly the server that master and meta name; closed
// regions are open nowhere; nothing is in transition; no server has an unknown region; meta and the master know the
// same regions.
[[nodiscard]] Finding CompareOwners(const OwnerViews& views);

}  // namespace ratchet::chaos
