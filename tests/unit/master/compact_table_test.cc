// A table is compacted while its regions move and servers die; a large one in parts.
#include "common/base/mutant.h"
#include "master/procedures/claims_of.h"
#include "master/procedures/core/region_sweep.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class CompactTableTest : public MasterTest {
 protected:
  Result<ProcId> Compact(const std::string& table) {
    return master().Ask([&](Done done) { admin().CompactTable(TableName("default", table), true, {"me", {}}, done); });
  }
};

// A server dies with an order: the next server gets the order for the region.
TEST_F(CompactTableTest, TakingAnyAnswerIsNoticed) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  const ScopedMutant mutant("master.any_answer_will_do");
  const auto compacted = Compact("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("CompactRegion").empty(); }));
  cluster_.Kill(HostOf(Encoded("t", 1)));
  ExpectSettled();
  EXPECT_EQ(Outcome(compacted), "success");
  EXPECT_EQ(cluster_.storage().regions[Encoded("t", 1)].compactions, 0U);
}

TEST_F(CompactTableTest, ACompactionReachesWhatMovesAndWhatDies) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  (void)Unassign(Encoded("t", 5));
  ExpectSettled();
  (void)Move(Encoded("t", 0));
  const auto compacted = Compact("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("CompactRegion").empty(); }));
  cluster_.Kill(HostOf(Encoded("t", 1)));
  ExpectSettled();
  EXPECT_EQ(Outcome(compacted), "success");
  const auto regions = Regions("t");
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_GE(cluster_.storage().regions[regions[i].encoded].compactions, 1U) << regions[i].encoded;
  EXPECT_EQ(cluster_.storage().regions[regions[5].encoded].compactions, 0U) << "it is closed";
  EXPECT_EQ(regions[5].state, RegionState::kClosed);
  const auto unknown = Compact("nowhere");
  EXPECT_NE(Outcome(unknown).find("nowhere"), std::string::npos);
  (void)Disable("t");
  ExpectSettled();
  const auto disabled = Compact("t");
  EXPECT_NE(Outcome(disabled).find("not enabled"), std::string::npos);
}

// Each round has its own children, so neither attempts nor ages of steps show that it fails.
TEST_F(CompactTableTest, ARegionThatCannotBeCompactedIsTriedLessAndLessOften) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::RegionData& damaged = cluster_.storage().regions[Encoded("t", 1)];
  damaged.damaged = true;
  const auto compacted = Compact("t");
  ASSERT_TRUE(compacted.ok());
  ASSERT_TRUE(cluster_.RunFor(Millis(60'000)));
  EXPECT_GE(damaged.refused_compactions, 5U);
  EXPECT_LE(damaged.refused_compactions, 20U) << "in a minute";
  const auto info = master().executor().Get(*compacted);
  ASSERT_TRUE(info.has_value());
  const auto setback = SetbackOf(*info);
  ASSERT_TRUE(setback.has_value());
  EXPECT_GE(setback->times, 5U);
  EXPECT_NE(setback->error.find(Encoded("t", 1)), std::string::npos) << setback->error;
  EXPECT_NE(setback->error.find("block checksum mismatch"), std::string::npos) << setback->error;
  damaged.damaged = false;
  ExpectSettled();
  EXPECT_EQ(Outcome(compacted), "success");
  EXPECT_EQ(damaged.compactions, 1U);
}

// Pure: regions beyond the number that is requested at a time wait for the next round, and count as remaining until
// they are done.
TEST(RegionSweepTest, NoMoreAreAskedAtATimeThanTheBound) {
  pb::CompactTableData data;
  EXPECT_FALSE(PartsOfSweep(data).has_value()) << "it has not begun";
  for (int i = 0; i < 5; ++i) data.add_left(std::to_string(i));
  for (int i = 0; i < 3; ++i) data.add_asked(std::to_string(i));
  data.set_total(10);
  data.set_begun(true);
  const auto parts = PartsOfSweep(data);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->left, 8U);
  EXPECT_EQ(parts->total, 10U);
}

TEST_F(CompactTableTest, ALargeTableIsCompactedAPartAtATime) {
  cluster_.Boot(2);
  const int regions = static_cast<int>(kMostRegionsAsked) + 40;
  std::vector<std::string> keys;
  for (int i = 1; i < regions; ++i) keys.push_back(fmt::format("{:04}", i));
  const auto created = master().Ask([&](Done done) { admin().CreateTable(Descriptor("big"), keys, {"me", {}}, done); });
  ExpectSettled();
  ASSERT_EQ(Outcome(created), "success");
  const auto compacted = Compact("big");
  std::size_t most = 0;
  ASSERT_TRUE(cluster_.RunUntil([&] {
    most = std::max(most, master().executor().FindUnfinished("CompactRegion").size());
    return master().executor().FindUnfinished("CompactTable").empty() && most > 0;
  }));
  EXPECT_EQ(most, kMostRegionsAsked);
  EXPECT_EQ(Outcome(compacted), "success");
  for (const RegionNode& node : Regions("big"))
    EXPECT_EQ(cluster_.storage().regions[node.encoded].compactions, 1U) << node.encoded;
}

}  // namespace
}  // namespace ratchet::master
