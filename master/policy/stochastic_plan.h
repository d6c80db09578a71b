// Plans moves by the load of servers, not only by their numbers of regions. Pure.
//
// It begins with the even shares of PlanBalance. Then it tries random moves and exchanges of two regions, from a seed,
// and keeps each that lowers the total cost. The cost is a weighted mean of parts between 0 (as even as the regions
// allow) and 1 (all on one server):
//   regions     unevenness of the servers' numbers of regions
//   table_skew  unevenness of the numbers of regions of each table
//   requests    unevenness of the servers' requests per second
//   bytes       unevenness of the servers' bytes of store files
//   moves       share of all regions that the plan moves
// Locality is not part of the cost, because all servers read their files from one root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/policy/balance_plan.h"

namespace ratchet::master {

struct WeighedRegion {
  BalancedRegion region;
  double requests = 0;  // per second
  double bytes = 0;     // of store files
};

// The weights are not negative. If all are 0, only `regions` counts.
struct BalanceWeights {
  double regions = 500;
  double table_skew = 35;
  double requests = 10;
  double bytes = 5;
  double moves = 7;
};

struct BalanceCost {
  double regions = 0;
  double table_skew = 0;
  double requests = 0;
  double bytes = 0;
  double moves = 0;
  double total = 0;  // weighted mean of the parts
};

struct StochasticPlan {
  std::vector<BalanceMove> moves;  // moves that relieve the most loaded servers come first
  BalanceCost before;
  BalanceCost after;
  std::size_t steps = 0;  // number of evaluated changes
};

struct StochasticOptions {
  BalanceWeights weights;
  std::size_t steps_per_region = 20;
  std::size_t most_steps = 400'000;  // bounds the time of a plan
  std::uint64_t seed = 1;
};

// The plan does not depend on the order of the arguments' elements.
[[nodiscard]] StochasticPlan PlanStochastically(const std::vector<ServerName>& servers,
                                                std::vector<WeighedRegion> regions, const StochasticOptions& options);

}  // namespace ratchet::master
