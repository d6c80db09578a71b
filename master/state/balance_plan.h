// Which regions move where so that each server has its share. Pure.
//
// A plan moves no more regions than it must: from the server that has most to the one that has least, until no two
// servers differ by more than one. Of a server's regions it takes one of the table of which that server has most beyond
// the other, so that each table spreads too. What is not given as movable counts as load and stays.
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

// `servers`: those that may have regions; regions of others are passed over (a drain or a crash procedure moves them).
// The same arguments give the same plan, in whatever order they stand.
[[nodiscard]] std::vector<BalanceMove> PlanBalance(const std::vector<ServerName>& servers,
                                                   std::vector<BalancedRegion> regions);

// Whether a server has so many or so few regions that the balancer moves some without being asked: more than
// ceil(average x (1 + slop)), or fewer than floor(average x (1 - slop)). HBase's rule (hbase.regions.slop).
[[nodiscard]] bool IsUneven(const std::vector<ServerName>& servers, const std::vector<BalancedRegion>& regions,
                            double slop);

struct MoveLimits {
  Live<std::int64_t> at_once{64};  // of all tables together
  Live<double> table_share{0.25};  // of a table's regions, but one of them always
};
// The moves of a plan that may begin now, in its order.
[[nodiscard]] std::vector<BalanceMove> FirstMoves(const std::vector<BalanceMove>& plan,
                                                  const std::map<std::string, std::size_t>& regions_of_table,
                                                  const MoveLimits& limits);

}  // namespace ratchet::master
