// Plans that weigh the load and the size of regions.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "master/policy/stochastic_plan.h"
#include "master/telemetry/region_rates.h"

namespace ratchet::master {
namespace {

ServerName Host(std::uint64_t number) { return {fmt::format("s{:04}", number), 1, 1}; }
std::vector<ServerName> Hosts(std::uint64_t count) {
  std::vector<ServerName> servers;
  for (std::uint64_t i = 0; i < count; ++i) servers.push_back(Host(i));
  return servers;
}
WeighedRegion Weighed(std::uint64_t number, std::uint64_t server, double requests = 0, double bytes = 0,
                      std::uint64_t tables = 4) {
  return {{fmt::format("r{:06}", number), fmt::format("t{}", number % tables), Host(server)}, requests, bytes};
}

// The regions where the plan puts them.
std::vector<WeighedRegion> Carried(std::vector<WeighedRegion> regions, const std::vector<BalanceMove>& moves) {
  std::map<std::string, const BalanceMove*> by_region;
  for (const BalanceMove& move : moves) {
    EXPECT_TRUE(by_region.emplace(move.encoded, &move).second) << "each region moves once";
    EXPECT_NE(move.from, move.to);
  }
  for (WeighedRegion& each : regions) {
    const auto move = by_region.find(each.region.encoded);
    if (move == by_region.end()) continue;
    EXPECT_TRUE(each.region.movable);
    EXPECT_EQ(each.region.server, move->second->from);
    each.region.server = move->second->to;
  }
  return regions;
}

std::map<ServerName, double> RequestsOf(const std::vector<WeighedRegion>& regions) {
  std::map<ServerName, double> sums;
  for (const WeighedRegion& each : regions) sums[each.region.server] += each.requests;
  return sums;
}

TEST(StochasticPlanTest, TheCostIsThatOfTheRegionsWhereThePlanPutsThem) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Prng prng(seed);
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t servers = 2 + prng.Below(6);
    std::vector<WeighedRegion> regions;
    for (std::uint64_t i = 0, count = 1 + prng.Below(100); i < count; ++i) {
      regions.push_back(Weighed(i, prng.Below(servers), static_cast<double>(prng.Below(1'000)),
                                static_cast<double>(prng.Below(1U << 30U))));
      regions.back().region.movable = prng.Chance(9, 10);
    }
    StochasticOptions options;
    options.seed = prng.Next();
    const StochasticPlan plan = PlanStochastically(Hosts(servers), regions, options);
    EXPECT_EQ(plan.before.moves, 0);
    options.most_steps = 0;
    const std::vector<WeighedRegion> carried = Carried(regions, plan.moves);
    const BalanceCost there = PlanStochastically(Hosts(servers), carried, options).before;
    EXPECT_NEAR(plan.after.regions, there.regions, 1e-6);
    EXPECT_NEAR(plan.after.table_skew, there.table_skew, 1e-6);
    EXPECT_NEAR(plan.after.requests, there.requests, 1e-6);
    EXPECT_NEAR(plan.after.bytes, there.bytes, 1e-6);
    EXPECT_NEAR(plan.after.moves, static_cast<double>(plan.moves.size()) / static_cast<double>(regions.size()), 1e-9);
    const StochasticPlan simple = PlanStochastically(Hosts(servers), regions, options);
    EXPECT_LE(plan.after.total, simple.after.total + 1e-9) << "a search makes nothing worse";
    EXPECT_EQ(simple.steps, 0U);
    std::reverse(regions.begin(), regions.end());
    options.most_steps = StochasticOptions().most_steps;
    EXPECT_EQ(PlanStochastically(Hosts(servers), regions, options).moves, plan.moves);
  }
}

TEST(StochasticPlanTest, WithoutASearchItIsThePlanOfEvenShares) {
  std::vector<WeighedRegion> regions;
  std::vector<BalancedRegion> counted;
  for (std::uint64_t i = 0; i < 50; ++i) {
    regions.push_back(Weighed(i, i % 2));
    counted.push_back(regions.back().region);
  }
  StochasticOptions options;
  options.most_steps = 0;
  const auto sorted = [](std::vector<BalanceMove> moves) {
    std::sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.encoded < b.encoded; });
    return moves;
  };
  EXPECT_EQ(sorted(PlanStochastically(Hosts(5), regions, options).moves), sorted(PlanBalance(Hosts(5), counted)));
}

TEST(StochasticPlanTest, BusyRegionsAreSpreadAlthoughTheNumbersAreEven) {
  std::vector<WeighedRegion> regions;
  for (std::uint64_t i = 0; i < 100; ++i) regions.push_back(Weighed(i, i / 10, i < 10 ? 1'000 : 1));
  const StochasticPlan plan = PlanStochastically(Hosts(10), regions, {});
  EXPECT_EQ(plan.before.regions, 0);
  EXPECT_EQ(plan.after.regions, 0) << "regions are exchanged";
  for (const auto& [server, requests] : RequestsOf(Carried(regions, plan.moves))) {
    EXPECT_LE(requests, 2'100) << server.ToString() << ": one busy region or two, where one server had ten";
  }
  EXPECT_LE(plan.moves.size(), 30U);
  StochasticOptions dear;
  dear.weights.moves = 1e6;
  EXPECT_TRUE(PlanStochastically(Hosts(10), regions, dear).moves.empty()) << "moves cost more than they gain";
  StochasticOptions blind;
  blind.weights.requests = 0;
  EXPECT_GT(PlanStochastically(Hosts(10), regions, blind).after.requests, plan.after.requests);
}

TEST(StochasticPlanTest, WhatIsEvenStays) {
  std::vector<WeighedRegion> regions;
  for (std::uint64_t i = 0; i < 96; ++i) regions.push_back(Weighed(i, (i / 4) % 8, 50, 1'000));
  const StochasticPlan plan = PlanStochastically(Hosts(8), regions, {});
  EXPECT_TRUE(plan.moves.empty());
  EXPECT_EQ(plan.before.total, 0);
  EXPECT_TRUE(PlanStochastically(Hosts(1), regions, {}).moves.empty());
  EXPECT_TRUE(PlanStochastically({}, regions, {}).moves.empty());
  EXPECT_TRUE(PlanStochastically(Hosts(3), {}, {}).moves.empty());
}

TEST(StochasticPlanTest, FullServersAreEmptiedFirst) {
  std::vector<WeighedRegion> regions;
  for (std::uint64_t i = 0; i < 60; ++i) regions.push_back(Weighed(i, i < 40 ? 0 : 1));
  const StochasticPlan plan = PlanStochastically(Hosts(3), regions, {});
  ASSERT_GE(plan.moves.size(), 20U);
  EXPECT_EQ(plan.moves.front().from, Host(0));
  EXPECT_EQ(plan.moves.front().to, Host(2));
}

TEST(StochasticPlanTest, AHundredThousandRegionsOnAThousandServers) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Prng prng(seed);
  std::vector<WeighedRegion> regions;
  for (std::uint64_t i = 0; i < 100'000; ++i)
    regions.push_back(
        Weighed(i, i % 990, static_cast<double>(prng.Below(100)), static_cast<double>(prng.Below(1'000)), 50));
  const StochasticPlan plan = PlanStochastically(Hosts(1'000), regions, {});
  EXPECT_EQ(plan.after.regions, 0) << "the ten new servers have their share";
  EXPECT_LT(plan.after.total, plan.before.total);
  EXPECT_LE(plan.steps, StochasticOptions().most_steps);
}

constexpr TimePoint At(int seconds) { return TimePoint{} + Millis(1'000'000 + 1'000 * seconds); }

TEST(RegionRatesTest, ARateNeedsTwoReadingsOfTheSameServer) {
  RegionRates rates;
  rates.Put(Host(1), {{"r", 100, 7}}, At(0));
  EXPECT_FALSE(rates.Of(Host(1), "r"));
  rates.Put(Host(1), {{"r", 300, 8}}, At(2));
  ASSERT_TRUE(rates.Of(Host(1), "r"));
  EXPECT_DOUBLE_EQ(rates.Of(Host(1), "r")->requests, 100);
  EXPECT_DOUBLE_EQ(rates.Of(Host(1), "r")->bytes, 8);
  rates.Put(Host(1), {{"r", 300, 8}}, At(3));
  EXPECT_DOUBLE_EQ(rates.Of(Host(1), "r")->requests, 50) << "the mean of what it was and what it is";
  EXPECT_FALSE(rates.Of(Host(2), "r"));
  EXPECT_FALSE(rates.Of(Host(1), "other"));
}

TEST(RegionRatesTest, AMoveKeepsTheRateAndANewOpeningIsNoNegativeNumber) {
  RegionRates rates;
  rates.Put(Host(1), {{"r", 0, 1}}, At(0));
  rates.Put(Host(1), {{"r", 50, 1}}, At(1));
  rates.Put(Host(2), {{"r", 3, 1}}, At(2));
  EXPECT_FALSE(rates.Of(Host(1), "r"));
  ASSERT_TRUE(rates.Of(Host(2), "r"));
  EXPECT_DOUBLE_EQ(rates.Of(Host(2), "r")->requests, 50);
  rates.Put(Host(2), {{"r", 1, 1}}, At(3));  // closed and opened between the two
  EXPECT_DOUBLE_EQ(rates.Of(Host(2), "r")->requests, 50);
  rates.Put(Host(2), {{"r", 1, 1}}, At(3));  // at the same moment
  EXPECT_DOUBLE_EQ(rates.Of(Host(2), "r")->requests, 50);
}

TEST(RegionRatesTest, WhatIsNotReportedAnyMoreGoes) {
  RegionRates rates;
  for (int i = 0; i < 10; ++i) rates.Put(Host(1), {{fmt::format("old{}", i), 1, 1}}, At(0));
  rates.Put(Host(1), {{"new", 1, 1}}, At(700));
  EXPECT_EQ(rates.size(), 1U);
}

}  // namespace
}  // namespace ratchet::master
