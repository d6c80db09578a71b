// A table is flushed while its regions move, servers die, and an operator disables it.
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class FlushTableTest : public MasterTest {
 protected:
  Result<ProcId> Flush(const std::vector<std::string>& families = {}) {
    return master().Ask([&](Done done) { admin().FlushTable(TableName("default", "t"), families, {"me", {}}, done); });
  }
};

// Data that was acknowledged before the request is in files, wherever the regions are by then; closed regions stay
// closed.
TEST_F(FlushTableTest, AFlushReachesWhatMovesAndWhatDies) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  (void)Unassign(Encoded("t", 5));
  ExpectSettled();
  cluster_.WriteEverywhere();
  const std::map<std::string, std::uint64_t> before = cluster_.storage().acknowledged;
  (void)Move(Encoded("t", 0));
  const auto flushed = Flush();
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("FlushRegion").empty(); }));
  cluster_.Kill(HostOf(Encoded("t", 1)));
  ExpectSettled();
  EXPECT_EQ(Outcome(flushed), "success");
  for (const RegionNode& node : Regions("t")) {
    EXPECT_GE(cluster_.storage().regions[node.encoded].flushed, before.at(node.encoded)) << node.encoded;
  }
  EXPECT_EQ(Regions("t")[5].state, RegionState::kClosed);
  const auto unknown = Flush({"x"});
  EXPECT_NE(Outcome(unknown).find("Column family x does not exist"), std::string::npos);
  (void)Disable("t");
  ExpectSettled();
  const auto disabled = Flush();
  EXPECT_NE(Outcome(disabled).find("not enabled"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::master
