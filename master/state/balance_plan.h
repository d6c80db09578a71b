// Which regions move where so that each server has its share. Pure.
//
// A plan moves no more regions than it must: from the server that has most to the one that has least, until no two
// servers differ by more than one. Of a server's regions it takes one of the table of which that server has most beyond
// the other, so that each table spreads too. What is not given as movable counts as load and stays.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/model/server_name.h"

namespace ratchet::master {

struct BalancedRegion {
  std::string encoded;
  std::string table;
  ServerName server;
  bool movable = true;
};

struct BalanceMove {
  std::string encoded;
  ServerName from;
  ServerName to;
  bool operator==(const BalanceMove&) const = default;
};

// `servers`: those that may have regions; regions of others are passed over (a drain or a crash procedure moves them).
// The same arguments give the same plan, in whatever order they stand.
[[nodiscard]] std::vector<BalanceMove> PlanBalance(const std::vector<ServerName>& servers,
                                                   std::vector<BalancedRegion> regions);

}  // namespace ratchet::master
