// The balancer: its plans, and the moves that follow from a plan.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "common/base/log.h"
#include "common/base/prng.h"
#include "master/chores/balancer.h"
#include "master/cluster/membership.h"
#include "master/cluster/switches.h"
#include "master/policy/balance_plan.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

ServerName Server(int number) { return {fmt::format("s{:03}", number), 1, 1}; }
std::vector<ServerName> Servers(int count) {
  std::vector<ServerName> servers;
  for (int i = 0; i < count; ++i) servers.push_back(Server(i));
  return servers;
}

// Regions of each server after the moves, by table.
std::map<ServerName, std::map<std::string, int>> After(const std::vector<BalancedRegion>& regions,
                                                       const std::vector<BalanceMove>& moves) {
  std::map<std::string, BalancedRegion> by_name;
  for (const auto& region : regions) by_name[region.encoded] = region;
  for (const auto& move : moves) {
    EXPECT_EQ(by_name.at(move.encoded).server, move.from) << "each region moves once";
    EXPECT_TRUE(by_name.at(move.encoded).movable);
    by_name.at(move.encoded).server = move.to;
  }
  std::map<ServerName, std::map<std::string, int>> counts;
  for (const auto& [name, region] : by_name) ++counts[region.server][region.table];
  return counts;
}

int SumOf(const std::map<std::string, int>& tables) {
  int sum = 0;
  for (const auto& [table, count] : tables) sum += count;
  return sum;
}

TEST(BalancePlanTest, FewestMovesEndWithEqualShares) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Prng prng(seed);
  for (int round = 0; round < 200; ++round) {
    const int servers = 1 + static_cast<int>(prng.Below(8));
    std::vector<BalancedRegion> regions;
    std::map<ServerName, int> before;
    for (int i = 0, count = static_cast<int>(prng.Below(120)); i < count; ++i) {
      const ServerName at = Server(static_cast<int>(prng.Below(servers)) * static_cast<int>(prng.Below(2)));
      regions.push_back({fmt::format("r{:03}", i), fmt::format("t{}", prng.Below(4)), at});
      ++before[at];
    }
    const auto moves = PlanBalance(Servers(servers), regions);
    const auto after = After(regions, moves);
    const std::size_t low = regions.size() / servers;
    std::size_t must_go = 0;
    std::size_t must_come = 0;
    for (const ServerName& server : Servers(servers)) {
      const auto found = after.find(server);
      const auto now = static_cast<std::size_t>(found == after.end() ? 0 : SumOf(found->second));
      EXPECT_GE(now, low);
      EXPECT_LE(now, low + (regions.size() % servers == 0 ? 0 : 1));
      const auto was = static_cast<std::size_t>(before[server]);
      must_go += was > low + 1 ? was - low - 1 : 0;
      must_come += was < low ? low - was : 0;
    }
    EXPECT_GE(moves.size(), std::max(must_go, must_come));
    EXPECT_LE(moves.size(), must_go + must_come);
    std::reverse(regions.begin(), regions.end());
    EXPECT_EQ(PlanBalance(Servers(servers), regions), moves) << "the order of the arguments does not matter";
  }
}

TEST(BalancePlanTest, ANewServerGetsItsShareOfEachTable) {
  std::vector<BalancedRegion> regions;
  for (int i = 0; i < 90; ++i) regions.push_back({fmt::format("r{:02}", i), fmt::format("t{}", i / 30), Server(i % 2)});
  const auto after = After(regions, PlanBalance(Servers(3), regions));
  EXPECT_EQ(after.at(Server(2)), (std::map<std::string, int>{{"t0", 10}, {"t1", 10}, {"t2", 10}}));
}

TEST(BalancePlanTest, ImmovableRegionsStayAndCount) {
  std::vector<BalancedRegion> regions;
  for (int i = 0; i < 6; ++i) regions.push_back({fmt::format("r{}", i), "t", Server(0), i >= 4});
  regions.push_back({"elsewhere", "t", Server(7)});
  const auto moves = PlanBalance(Servers(2), regions);
  EXPECT_EQ(moves.size(), 2U) << "four of the six stay";
  EXPECT_TRUE(PlanBalance({}, regions).empty());
}

// Counted, not timed: every move of the plan is needed for an even share.
TEST(BalancePlanTest, AHundredThousandRegionsOnAThousandServers) {
  std::vector<BalancedRegion> regions;
  for (int i = 0; i < 100'000; ++i)
    regions.push_back({fmt::format("r{:06}", i), fmt::format("t{}", i % 100), Server(i % 900)});
  const auto moves = PlanBalance(Servers(1000), regions);
  EXPECT_EQ(moves.size(), 10'000U);
  for (const auto& [server, tables] : After(regions, moves)) EXPECT_EQ(SumOf(tables), 100);
}

TEST(BalancePlanTest, NearlyEvenLoadIsNotMoved) {
  const auto uneven = [](std::vector<int> counts, double slop) {
    std::vector<BalancedRegion> regions;
    for (std::size_t server = 0; server < counts.size(); ++server) {
      for (int i = 0; i < counts[server]; ++i)
        regions.push_back({fmt::format("r{}-{}", server, i), "t", Server(static_cast<int>(server))});
    }
    return IsUneven(Servers(static_cast<int>(counts.size())), regions, slop);
  };
  EXPECT_FALSE(uneven({10, 10, 10}, 0.2));
  EXPECT_FALSE(uneven({12, 8, 10}, 0.2));
  EXPECT_TRUE(uneven({13, 8, 9}, 0.2)) << "the average is 10";
  EXPECT_TRUE(uneven({13, 10, 7}, 0.2));
  EXPECT_FALSE(uneven({1, 1, 0}, 0.2)) << "there are no parts of regions";
  EXPECT_TRUE(uneven({3, 3, 0}, 0.2)) << "a server that has come";
  EXPECT_TRUE(uneven({12, 8, 10}, 0));
  EXPECT_FALSE(uneven({100}, 0.2));
  EXPECT_FALSE(uneven({}, 0.2));
}

TEST(BalancePlanTest, OnlyAPartOfATableMovesAtATime) {
  std::vector<BalanceMove> plan;
  for (int i = 0; i < 30; ++i) plan.push_back({fmt::format("a{}", i), "a", Server(0), Server(1)});
  for (int i = 0; i < 5; ++i) plan.push_back({fmt::format("b{}", i), "b", Server(0), Server(1)});
  const std::map<std::string, std::size_t> sizes{{"a", 40}, {"b", 3}};
  const auto count = [&](const MoveLimits& limits) {
    std::map<std::string, int> of_table;
    for (const auto& move : FirstMoves(plan, sizes, limits)) ++of_table[move.table];
    return of_table;
  };
  EXPECT_EQ(count({100, 0.25}), (std::map<std::string, int>{{"a", 10}, {"b", 1}}));
  EXPECT_EQ(count({100, 1}), (std::map<std::string, int>{{"a", 30}, {"b", 3}}));
  EXPECT_EQ(count({100, 0}), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(count({4, 0.25}), (std::map<std::string, int>{{"a", 4}}));
  EXPECT_TRUE(FirstMoves({}, sizes, {}).empty());
}

class BalancerTest : public MasterTest {
 protected:
  Balancer::Outcome Balance(bool dry_run = false) {
    std::optional<Result<Balancer::Outcome>> outcome;
    master().logic().balancer.Balance({dry_run, false, false, {"me", {}}},
                                      [&](Result<Balancer::Outcome> each) { outcome = std::move(each); });
    EXPECT_TRUE(cluster_.RunUntil([&] { return outcome.has_value(); }));
    return outcome->ok() ? **outcome : Balancer::Outcome{outcome->error().ToString(), 0, 0};
  }
};

TEST_F(BalancerTest, ANewServerGetsItsShare) {
  cluster_.Boot(2);
  GivenTable("t", 12);
  sim::SimServer& added = cluster_.AddServer("added");
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().servers.IsOnline(added.name()); }));
  EXPECT_EQ(Balance(/*dry_run=*/true).planned, 4U);
  EXPECT_TRUE(added.regions().empty()) << "it was only asked";
  EXPECT_EQ(Balance().begun, 3U) << "a quarter of the table at a time";
  ExpectSettled();
  EXPECT_EQ(Balance().begun, 1U);
  ExpectSettled();
  EXPECT_EQ(added.regions().size(), 4U);
  ExpectServed("t", 12);
  EXPECT_EQ(Balance().planned, 0U) << "each has its share";
}

// The record of a closed region keeps its last server; that server does not have it.
TEST_F(BalancerTest, RegionsThatAreClosedAreNoLoad) {
  cluster_.Boot(2);
  GivenTable("t", 8);
  const ServerName loaded = cluster_.Alive()[0]->name();
  for (const RegionNode& node : Regions("t")) {
    if (node.location == loaded) continue;
    ASSERT_TRUE(Move(node.encoded, loaded).ok());
  }
  ExpectSettled();
  ASSERT_EQ(Outcome(Disable("t")), "unfinished");
  ExpectSettled();
  cluster_.StartMaster();
  ExpectSettled();
  GivenTable("u", 6);
  for (int round = 0; round < 10; ++round) {
    Balance();
    ExpectSettled();
  }
  EXPECT_EQ(Balance(/*dry_run=*/true).planned, 0U);
  const auto one = static_cast<int>(cluster_.Alive()[0]->regions().size());
  const auto two = static_cast<int>(cluster_.Alive()[1]->regions().size());
  EXPECT_LE(std::abs(one - two), 1) << one << " and " << two;
}

// One tick a second, as in the master's process.
TEST_F(BalancerTest, JoiningServerGetsItsShareAutomatically) {
  cluster_.Boot(2);
  GivenTable("t", 12);
  Balancer& balancer = master().logic().balancer;
  const auto tick = [&](int times) {
    for (int i = 0; i < times; ++i) {
      balancer.Tick();
      ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
    }
  };
  tick(3);
  sim::SimServer& added = cluster_.AddServer("added");
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().servers.IsOnline(added.name()); }));
  master().logic().env.switches.Show(Switch::kBalancer, "off");
  tick(3);
  EXPECT_TRUE(added.regions().empty()) << "it is switched off";
  master().logic().env.switches.Show(Switch::kBalancer, "on");
  tick(10);
  EXPECT_EQ(added.regions().size(), 4U);
  ExpectServed("t", 12);
  const std::uint64_t before = cluster_.storage().acknowledged.size();
  const auto regions = Regions("t");
  const auto elsewhere = std::find_if(regions.begin(), regions.end(),
                                      [&](const RegionNode& node) { return node.location != added.name(); });
  ASSERT_TRUE(Move(elsewhere->encoded, added.name()).ok());
  ExpectSettled();
  tick(5);
  EXPECT_EQ(added.regions().size(), 5U) << "what an operator has moved stays, while it is about even";
  EXPECT_EQ(cluster_.storage().acknowledged.size(), before);
}

TEST_F(BalancerTest, AutomaticBalancingWaitsForRecovery) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  master().logic().balancer.Tick();
  sim::SimServer& dies = HostOf(Encoded("t"));
  const ServerName name = dies.name();
  sim::SimServer& added = cluster_.AddServer("added");
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().servers.IsOnline(added.name()); }));
  cluster_.Kill(dies);
  cluster_.SessionEnds(name, Millis(10));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("ServerCrash").empty(); }));
  const auto moves = [&] {
    std::size_t count = 0;
    for (const ProcId pid : master().executor().FindUnfinished("TransitRegionState")) {
      const auto info = master().executor().Get(pid);
      count += info && info->description.text().find("MOVE") != std::string::npos ? 1 : 0;
    }
    return count;
  };
  master().logic().balancer.Tick();
  EXPECT_EQ(moves(), 0U);
  ExpectSettled();
  for (int i = 0; i < 12; ++i) {
    master().logic().balancer.Tick();
    ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  }
  ExpectServed("t", 9);
  for (const sim::SimServer* server : cluster_.Alive()) EXPECT_GE(server->regions().size(), 2U);
}

// One region that no server opens, and one whose move an operator has paused, delay no other region.
TEST_F(BalancerTest, StuckRegionsAreLeftOutAndNamed) {
  cluster_.Boot(2);
  GivenTable("t", 12);
  const std::string refused = Encoded("t", 0);
  const std::string paused = Encoded("t", 1);
  cluster_.storage().regions[refused].unopenable = true;
  ASSERT_TRUE(Move(refused).ok());
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().regions.Get(refused)->failed_opens >= 3; }));
  procedure::PauseScope scope;
  scope.kind = procedure::PauseScope::Kind::kResource;
  scope.resource = procedure::ResourceKey::Region(TableName("default", "t").ToString(), paused);
  master().executor().Pause(scope, {"op", "look"}, Millis(0), [](const auto&) {});
  ASSERT_TRUE(cluster_.RunFor(Millis(100)));
  ASSERT_TRUE(Move(paused).ok());
  sim::SimServer& added = cluster_.AddServer("added");
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().servers.IsOnline(added.name()); }));
  const auto outcome = Balance();
  EXPECT_EQ(outcome.put_off, "");
  EXPECT_GT(outcome.begun, 0U);
  ASSERT_EQ(outcome.left_out.size(), 1U) << "the paused move has not begun, so its region is at rest";
  EXPECT_NE(outcome.left_out[0].find(refused + " of table t: its opening was refused"), std::string::npos)
      << outcome.left_out[0];
  for (int i = 0; i < 15; ++i) {
    master().logic().balancer.Tick();
    ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  }
  EXPECT_GE(added.regions().size(), 3U) << "by itself as well";
}

TEST_F(BalancerTest, NothingMovesWhileADeadServerIsRecovered) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  sim::SimServer& dies = HostOf(Encoded("t"));
  const ServerName name = dies.name();
  cluster_.Kill(dies);
  cluster_.SessionEnds(name, Millis(10));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("ServerCrash").empty(); }));
  const auto outcome = Balance();
  EXPECT_EQ(outcome.begun, 0U);
  EXPECT_NE(outcome.put_off.find("recovers a dead server"), std::string::npos) << outcome.put_off;
  ExpectSettled();
  ExpectServed("t", 9);
}

}  // namespace
}  // namespace ratchet::master
