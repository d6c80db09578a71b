// A plan that weighs what servers carry, and not only how many regions they have. Pure.
//
// It begins with the even shares of PlanBalance. From there it looks for single moves and for exchanges of two regions
// that lower the cost of the whole, chosen at random with a seed, and takes each that does. The cost is a weighted mean
// of parts between 0 (as even as the regions allow) and 1 (all on one server):
//   regions     how unlike each other the servers' numbers of regions are
//   table_skew  the same for each table by itself
//   requests    the same for requests a second
//   bytes       the same for the sizes of store files
//   moves       the part of all regions that the plan moves
// Locality is no part of it: all servers read their files from one root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/state/balance_plan.h"

namespace ratchet::master {

struct WeighedRegion {
  BalancedRegion region;
  double requests = 0;  // a second
  double bytes = 0;     // of store files
};

// Not negative; all 0 counts as only the first.
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
  double total = 0;  // their weighted mean
};

struct StochasticPlan {
  std::vector<BalanceMove> moves;  // those that take most from the fullest servers first
  BalanceCost before;
  BalanceCost after;
  std::size_t steps = 0;  // changes that were weighed
};

struct StochasticOptions {
  BalanceWeights weights;
  std::size_t steps_per_region = 20;
  std::size_t most_steps = 400'000;  // bounds the time of a plan
  std::uint64_t seed = 1;
};

// The same arguments give the same plan, in whatever order they stand.
[[nodiscard]] StochasticPlan PlanStochastically(const std::vector<ServerName>& servers,
                                                std::vector<WeighedRegion> regions, const StochasticOptions& options);

}  // namespace ratchet::master
