// A table is compacted while its regions move and servers die; a large one a part at a time.
#include "common/base/mutant.h"
#include "master/procedures/region_sweep.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class CompactTableTest : public MasterTest {
 protected:
  Result<ProcId> Compact(const std::string& table) {
    return master().Ask([&](Done done) { admin().CompactTable(TableName("default", table), true, {"me", {}}, done); });
  }
};

// A server dies with an order: the region is asked for again at the next one.
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

// Pure: more regions than are asked at a time are left for the next turn, and count as left until they are done.
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
