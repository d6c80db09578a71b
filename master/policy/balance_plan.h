// Plans the moves that give each server its share of regions. Pure.
//
// A plan makes the minimum number of moves: from the server with most regions to the one with fewest, until no two
// servers differ by more than one. It moves a region of the table with the largest surplus over the other server, so
// that each table is spread too. Regions that are not movable count as load and stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/live.h"
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
  std::string table;
  ServerName from;
  ServerName to;
  bool operator==(const BalanceMove&) const = default;
};

// `servers`: servers that may have regions. Regions on other servers are ignored, because a drain or a crash procedure
// moves them. The plan does not depend on the order of the arguments' elements.
[[nodiscard]] std::vector<BalanceMove> PlanBalance(const std::vector<ServerName>& servers,
                                                   std::vector<BalancedRegion> regions);

// Returns true if the balancer must move regions automatically: a server has more than ceil(average x (1 + slop)) or
// fewer than floor(average x (1 - slop)) regions. HBase's rule (hbase.regions.slop).
[[nodiscard]] bool IsUneven(const std::vector<ServerName>& servers, const std::vector<BalancedRegion>& regions,
                            double slop);

struct MoveLimits {
  Live<std::int64_t> at_once{64};  // limit for all tables together
  Live<double> table_share{0.25};  // limit for each table: share of its regions, at least one
};
// Returns the moves of a plan that may begin now, in the plan's order.
[[nodiscard]] std::vector<BalanceMove> FirstMoves(const std::vector<BalanceMove>& plan,
                                                  const std::map<std::string, std::size_t>& regions_of_table,
                                                  const MoveLimits& limits);

}  // namespace ratchet::master
