// The normalizer: its plans, and their results.
#include <algorithm>
#include <set>

#include "common/base/prng.h"
#include "master/chores/normalizer.h"
#include "master/cluster/switches.h"
#include "master/policy/normalizer_plan.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {
namespace {

constexpr std::uint64_t kOneMiB = 1 << 20;

TableDescriptor NormalizedTable(Attributes attributes = {}) {
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.attributes = std::move(attributes);
  return table;
}
std::vector<NormalizedRegion> Sized(const std::vector<std::uint64_t>& mebibytes) {
  std::vector<NormalizedRegion> regions;
  for (std::size_t i = 0; i < mebibytes.size(); ++i) regions.push_back({fmt::format("r{}", i), mebibytes[i] * kOneMiB});
  return regions;
}
using Steps = std::vector<std::vector<std::string>>;
Steps Planned(const std::vector<std::uint64_t>& mebibytes, Attributes attributes = {}) {
  Steps steps;
  for (const NormalizerStep& step : PlanNormalization(NormalizedTable(std::move(attributes)), Sized(mebibytes)))
    steps.push_back(step.regions);
  return steps;
}

TEST(NormalizerPlanTest, LargeOnesAreSplitAndSmallNeighboursMerged) {
  EXPECT_EQ(Planned({}), Steps{});
  EXPECT_EQ(Planned({10, 10, 10}), Steps{});
  EXPECT_EQ(Planned({100, 10, 10, 10}), (Steps{{"r0"}, {"r1", "r2", "r3"}})) << "the average is 32.5";
  EXPECT_EQ(Planned({5, 20, 5, 20, 5}), Steps{}) << "no two neighbours have less than 11 together";
  EXPECT_EQ(Planned({5, 5, 20, 5, 5}), (Steps{{"r2"}})) << "10 together is above 8";
  EXPECT_EQ(Planned({0, 0, 0}), (Steps{{"r0", "r1", "r2"}})) << "nothing is in any of them";
  EXPECT_EQ(Planned({0, 0}), Steps{}) << "too few to be merged";
}

TEST(NormalizerPlanTest, TheTableSaysHowLargeARegionShouldBe) {
  EXPECT_EQ(Planned({30, 30, 30}, {{"NORMALIZER_TARGET_REGION_SIZE_MB", "10"}}), (Steps{{"r0"}, {"r1"}, {"r2"}}));
  EXPECT_EQ(Planned({30, 30, 30}, {{"NORMALIZER_TARGET_REGION_SIZE_MB", "60"}}), (Steps{{"r0", "r1"}}));
  EXPECT_EQ(Planned({30, 30, 30}, {{"NORMALIZER_TARGET_REGION_COUNT", "1"}}), (Steps{{"r0", "r1", "r2"}}));
  EXPECT_EQ(Planned({30, 30, 30}, {{"NORMALIZER_TARGET_REGION_COUNT", "9"}}), (Steps{{"r0"}, {"r1"}, {"r2"}}));
  for (const char* none : {"0", "-3", "many", ""})
    EXPECT_EQ(Planned({30, 30, 30}, {{"NORMALIZER_TARGET_REGION_COUNT", none}}), Steps{}) << none;
  EXPECT_FALSE(WantsNormalization(NormalizedTable()));
  EXPECT_TRUE(WantsNormalization(NormalizedTable({{"NORMALIZATION_ENABLED", "TRUE"}})));
  EXPECT_FALSE(WantsNormalization(NormalizedTable({{"NORMALIZATION_ENABLED", "false"}})));
}

TEST(NormalizerPlanTest, NoRegionIsInTwoStepsAndOnlyNeighboursAreMerged) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Prng prng(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 0, count = prng.Below(60); i < count; ++i) sizes.push_back(prng.Below(3) * prng.Below(100));
    std::set<std::string> seen;
    for (const auto& regions : Planned(sizes)) {
      EXPECT_LE(regions.size(), kMostMergedAtOnce);
      for (std::size_t i = 0; i < regions.size(); ++i) {
        EXPECT_TRUE(seen.insert(regions[i]).second) << regions[i];
        if (i > 0) {
          EXPECT_EQ(std::stoi(regions[i].substr(1)), std::stoi(regions[i - 1].substr(1)) + 1);
        }
      }
    }
  }
}

class NormalizerTest : public ReshapeTest {
 protected:
  // Sets sizes, as heartbeats would: the first region of the table has `first`, the others `others`.
  void Report(std::uint64_t first, std::uint64_t others) {
    const std::string name = Live().front().encoded;
    for (sim::SimServer* server : cluster_.Alive()) {
      std::vector<RegionSize> sizes;
      for (const auto& [encoded, region] : server->regions())
        sizes.push_back({encoded, encoded == name ? first : others});
      master().logic().region_sizes.Put(server->name(), sizes, master().logic().servers.Online());
    }
  }
  bool Run() {
    return master().logic().normalizer.Run({"me", {}}, [](const TableName&) { return true; });
  }
  void GivenNormalizedTable(int regions) {
    TableDescriptor descriptor = Descriptor("t");
    descriptor.attributes["NORMALIZATION_ENABLED"] = "true";
    const auto pid = master().Ask([&](Done done) {
      admin().CreateTable(descriptor, Splits(regions), {"me", {}}, done);
    });
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    ASSERT_EQ(Outcome(pid), "success");
    cluster_.WriteEverywhere();
  }
};

TEST_F(NormalizerTest, SmallRegionsAreMergedOnceEnabled) {
  cluster_.Boot(2);
  GivenNormalizedTable(4);
  Report(100, 10);
  EXPECT_FALSE(Run()) << "it is off at first";
  master().logic().env.switches.Show(Switch::kNormalizer, "on");
  EXPECT_TRUE(Run());
  EXPECT_FALSE(Run()) << "its operations in progress continue";
  ExpectSettled();
  EXPECT_EQ(master().logic().normalizer.under_way(), 0U);
  // The first one has no row at which its server would split it; the other three are one.
  ExpectLive(2);
}

TEST_F(NormalizerTest, DoesNothingWithoutAllSizesOrWhenSwitchedOff) {
  cluster_.Boot(2);
  GivenNormalizedTable(4);
  master().logic().env.switches.Show(Switch::kNormalizer, "on");
  EXPECT_TRUE(Run());
  EXPECT_EQ(master().logic().normalizer.under_way(), 0U) << "no size is known";
  Report(10, 10);
  EXPECT_TRUE(Run());
  EXPECT_EQ(master().logic().normalizer.under_way(), 0U) << "they are equally large";
  Report(100, 10);
  master().logic().env.switches.Show(Switch::kMerge, "off");
  master().logic().env.switches.Show(Switch::kSplit, "off");
  EXPECT_TRUE(Run());
  EXPECT_EQ(master().logic().normalizer.under_way(), 0U);
  ExpectLive(4);
}

TEST_F(NormalizerTest, RunsAfterEachPeriod) {
  cluster_.Boot(2);
  GivenNormalizedTable(4);
  Report(100, 10);
  master().logic().normalizer.Tick();
  EXPECT_EQ(master().logic().normalizer.under_way(), 0U);
  master().logic().env.switches.Show(Switch::kNormalizer, "on");
  master().logic().normalizer.Tick();
  EXPECT_EQ(master().logic().normalizer.under_way(), 2U);
  ExpectLive(2);
  master().logic().normalizer.Tick();
  EXPECT_EQ(master().logic().normalizer.under_way(), 0U) << "not before the next period";
}

}  // namespace
}  // namespace ratchet::master
