// An empty region replaces an open one; an operation that cannot be completed ends with the region open again and all
// of its rows there.
#include "master/repair/reconciler.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {
namespace {

TEST_F(ReshapeTest, ATruncatedRegionIsEmptyAndHasANewName) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  const RegionInfo old = Regions("t")[1].info;
  const auto pid = Truncate(old.encoded_name());
  ExpectLive(2);
  EXPECT_EQ(Outcome(pid), "success");
  const RegionInfo fresh = Live()[1].info;
  EXPECT_EQ(fresh.start_key, old.start_key);
  EXPECT_EQ(fresh.end_key, old.end_key);
  EXPECT_NE(fresh.encoded_name(), old.encoded_name());
  EXPECT_FALSE(cluster_.meta().regions().contains(old.encoded_name()));
  EXPECT_EQ(Directories(), 2U) << "the old one is in the archive";
  EXPECT_FALSE(Truncate(old.encoded_name()).ok()) << "it is gone";
  const auto of_meta = Truncate(std::string(kMetaEncodedName));
  ExpectLive(2);
  EXPECT_NE(Outcome(of_meta).find("Can't truncate region in catalog tables"), std::string::npos) << Outcome(of_meta);
  ASSERT_TRUE(of_meta.ok());
  EXPECT_EQ(master().executor().GetResult(*of_meta).error->remote_class(), "java.io.IOException");
  LetTheJanitorCome();
  ExpectLive(2);
}

TEST_F(ReshapeTest, ATruncationWhoseServerDiesKeepsTheRows) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  cluster_.WriteEverywhere();
  const std::string region = Encoded("t");
  const std::uint64_t rows = cluster_.storage().acknowledged[region];
  const auto pid = Truncate(region);
  ASSERT_TRUE(RunTo("CloseRegion", "DISPATCH"));
  cluster_.Kill(HostOf(region));
  ExpectLive(2);
  EXPECT_NE(Outcome(pid).find("open again with its rows"), std::string::npos) << Outcome(pid);
  EXPECT_EQ(Live()[0].encoded, region);
  EXPECT_GT(cluster_.storage().acknowledged[region], rows);
  EXPECT_EQ(Directories(), 2U);
}

// Until the child that opens the new region has taken it, the truncation owns the region.
TEST_F(ReshapeTest, NewRegionWaitingToOpenIsNotTreatedAsAbandoned) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Truncate(Encoded("t"));
  ASSERT_TRUE(RunTo("TruncateRegion", "TRUNCATE_REGION_REMOVE"));
  const auto scope = procedure::PauseScope::Type("TransitRegionState");
  master().executor().Pause(scope, {"op", "wait"}, Millis(0), [](const auto&) {});
  ASSERT_TRUE(cluster_.RunFor(cluster_.master_options.reconciler.grace + Millis(1'000)));
  master().logic().reconciler.Sweep();
  EXPECT_EQ(master().logic().reconciler.Findings().size(), 0U);
  master().executor().Resume(scope, {"op", "wait"}, [](const Status&) {});
  ExpectLive(1);
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(ReshapeTest, BypassOfATruncationIsRefusedWhileItsCommitMayBeInProgress) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Truncate(Encoded("t"));
  ASSERT_TRUE(pid.ok());
  ASSERT_TRUE(RunTo("TruncateRegion", "UPDATE_META"));
  std::string answer;
  master().executor().Bypass(*pid, true, {"op", "enough"},
                             [&](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
  ExpectLive(1);
  EXPECT_NE(answer.find("may be in progress"), std::string::npos) << answer;
}

}  // namespace
}  // namespace ratchet::master
