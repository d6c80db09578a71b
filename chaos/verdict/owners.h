// Which server has which region, as the master, hbase:meta and the servers themselves say. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

struct OwnerViews {
  struct Known {
    std::string state;   // "OPEN"
    std::string server;  // empty: none
  };
  // By encoded name.
  std::map<std::string, Known> master;
  std::map<std::string, std::string> meta;               // where clients are sent; without hbase:meta itself
  std::map<std::string, std::vector<std::string>> open;  // the servers that say that they have it open
};

// Every region that the master calls open is open on exactly the one server that master and meta name; what it calls
// closed is open nowhere; nothing is in transition; no server has an unknown region; meta and the master know
// the same regions.
[[nodiscard]] Finding CompareOwners(const OwnerViews& views);

}  // namespace ratchet::chaos
