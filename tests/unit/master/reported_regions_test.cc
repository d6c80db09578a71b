// Both ends of the list of open regions; a heartbeat contains only its changes, S86 (delta on its exact base list).
#include "master/cluster/reported_regions.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "regionserver/host/online_list.h"
#include "tests/support/master_world/sim_server.h"

namespace ratchet::master {
namespace {

using Open = std::map<std::string, std::uint64_t>;

using sim::AsTold;

bool Take(ReportedRegions& at, const RegionList& list) {
  std::vector<std::string> changed;
  return at.Take(list, &changed);
}

TEST(ReportedRegionsTest, HeartbeatCarriesOnlyChanges) {
  regionserver::OnlineList server;
  ReportedRegions master;
  for (int i = 0; i < 100; ++i) server.Opened("r" + std::to_string(i), 5);
  RegionList list = AsTold(server.Next());
  EXPECT_EQ(list.open.size(), 100U);
  ASSERT_TRUE(Take(master, list));
  server.Answered(master.number());
  server.Closed("r7");
  server.Opened("r8", 6);
  server.Opened("new", 7);
  server.Opened("short", 8);
  server.Closed("short");
  list = AsTold(server.Next());
  EXPECT_EQ(list.open.size(), 2U);
  EXPECT_EQ(list.closed, (std::vector<std::string>{"r7", "short"}));
  std::vector<std::string> changed;
  ASSERT_TRUE(master.Take(list, &changed));
  EXPECT_EQ(changed, (std::vector<std::string>{"r7", "new", "r8"}));
  EXPECT_EQ(master.open(), server.open());
  server.Answered(master.number());
  list = AsTold(server.Next());
  EXPECT_TRUE(list.open.empty() && list.closed.empty());
  EXPECT_TRUE(Take(master, list));
}

TEST(ReportedRegionsTest, ANewMasterGetsAFullListFirst) {
  regionserver::OnlineList server;
  ReportedRegions old_master;
  server.Opened("a", 1);
  ASSERT_TRUE(Take(old_master, AsTold(server.Next())));
  server.Answered(old_master.number());
  server.Opened("b", 2);
  ReportedRegions new_master;
  EXPECT_FALSE(Take(new_master, AsTold(server.Next())));
  EXPECT_EQ(new_master.number(), 0U);
  server.Answered(new_master.number());
  ASSERT_TRUE(Take(new_master, AsTold(server.Next())));
  EXPECT_EQ(new_master.open(), server.open());
}

// The answer of the earlier master, which comes when the new one is already asked.
TEST(ReportedRegionsTest, ALateAnswerCountsNoLonger) {
  regionserver::OnlineList server;
  server.Opened("a", 1);
  const std::uint64_t number = server.Next().number;
  server.StartAnew();
  server.Answered(number);
  EXPECT_EQ(server.Next().base, 0U);
}

TEST(ReportedRegionsTest, InconsistentListIsRejected) {
  regionserver::OnlineList server;
  ReportedRegions master;
  server.Opened("a", 1);
  server.Opened("b", 1);
  RegionList list = AsTold(server.Next());
  list.open.pop_back();
  EXPECT_FALSE(Take(master, list));
  EXPECT_EQ(master.number(), 0U);
  server.Answered(master.number());
  EXPECT_TRUE(Take(master, AsTold(server.Next())));
}

TEST(ReportedRegionsTest, ALateListChangesNothing) {
  regionserver::OnlineList server;
  ReportedRegions master;
  server.Opened("a", 1);
  const RegionList late = AsTold(server.Next());
  server.Opened("b", 1);
  ASSERT_TRUE(Take(master, AsTold(server.Next())));
  EXPECT_FALSE(Take(master, late));
  EXPECT_EQ(master.open(), server.open());
}

// Answers and lists are lost at random; whenever a list is accepted, both sides have the same set.
int CountDifferences(std::uint64_t seed) {
  Prng prng(seed);
  regionserver::OnlineList server;
  ReportedRegions master;
  int different = 0;
  for (int beat = 0; beat < 300; ++beat) {
    for (std::uint64_t change = prng.Below(4); change > 0; --change) {
      const std::string region = "r" + std::to_string(prng.Below(20));
      if (prng.Chance(1, 2))
        server.Opened(region, prng.Below(3) + 1);
      else
        server.Closed(region);
    }
    if (prng.Chance(1, 40)) master = ReportedRegions();  // another master
    if (prng.Chance(1, 50)) server.StartAnew();
    const RegionList list = AsTold(server.Next());
    if (prng.Chance(1, 10)) continue;  // lost on the way
    const bool taken = Take(master, list);
    different += taken && master.open() != server.open() ? 1 : 0;
    if (!prng.Chance(1, 10)) server.Answered(taken ? master.number() : 0);
  }
  return different;
}

TEST(ReportedRegionsTest, ListsConvergeWhateverMessagesAreLost) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) EXPECT_EQ(CountDifferences(seed), 0) << "seed " << seed;
}

#if defined(RATCHET_MUTANTS)
TEST(ReportedRegionsTest, AcceptingAnyListIsNoticed) {
  const ScopedMutant mutant("heartbeat.take_any_list");
  int different = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) different += CountDifferences(seed);
  EXPECT_GT(different, 0);
}
#endif

}  // namespace
}  // namespace ratchet::master
