// Splits and merges: the regions of a table cover its keys at every moment, no acknowledged write is lost, and an
// operation that cannot be completed ends with the parents open again (S35: proof of a clean close, to S43: no locks
// while regions may wait).
#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/repair/reconciler.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {

// S103 (merged parents are passed on). A merged region is merged, split or truncated before the janitor has run.
// Returns the number of directories that stay permanently.
std::size_t ReshapeTest::DirectoriesLeftBehind(const std::string& then) {
  cluster_.Boot(3);
  GivenTable("t", 4);
  EXPECT_TRUE(Merge({Regions("t")[0].encoded, Regions("t")[1].encoded}).ok());
  ExpectLive(3);
  if (then == "merge") {
    EXPECT_TRUE(Merge({Live()[0].encoded, Live()[1].encoded}).ok());
    ExpectLive(2);
  } else if (then == "split") {
    EXPECT_TRUE(Split(Live()[0].encoded, "a").ok());
    ExpectLive(4);
  } else {
    EXPECT_TRUE(Truncate(Live()[0].encoded).ok());
    ExpectLive(3);
  }
  for (int i = 0; i < 3; ++i) LetTheJanitorCome();
  return Directories() - Live().size();
}

// The parent's row is gone, and the acknowledgement was lost. Returns true if the comparison with hbase:meta writes the
// row again.
bool ReshapeTest::ParentsRowComesBack() {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  EXPECT_TRUE(Split(parent, "m").ok());
  EXPECT_TRUE(cluster_.Settle());
  const auto scope = procedure::PauseScope::Type("GCRegion");
  master().logic().reconciler.Sweep();
  EXPECT_TRUE(RunTo("GCRegion", "GC_REGION_ARCHIVE"));
  master().executor().Pause(scope, {"op", "wait"}, Millis(0), [](const auto&) {});
  EXPECT_TRUE(cluster_.RunFor(Millis(100)));
  MetaEdit gone;
  gone.kind = MetaEdit::Kind::kDeleteRegion;
  gone.region = cluster_.meta().regions().at(parent);
  gone.region.transition += 1;
  EXPECT_TRUE(cluster_.meta().Apply(gone).ok());
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(cluster_.RunFor(Millis(1'100)));
    master().logic().reconciler.CompareWithMeta([](const Status&) {});
    EXPECT_TRUE(cluster_.RunFor(Millis(100)));
  }
  return cluster_.meta().regions().contains(parent);
}

// Regions 0 and 1 of a table, each on a server of its own.
void ReshapeTest::GivenTwoRegionsOnTwoServers() {
  cluster_.Boot(4);
  GivenTable("t", 2);
  lost_ = Encoded("t", 0);
  hung_ = Encoded("t", 1);
  if (&HostOf(lost_) != &HostOf(hung_)) return;
  ASSERT_TRUE(Move(hung_, OtherThan(HostOf(lost_)).name()).ok());
  ExpectSettled();
}

// The server of one region dies, and that of the other answers no order.
bool ReshapeTest::OpensTheLostRegionElsewhere() {
  sim::SimServer& dies = HostOf(lost_);
  const ServerName dead = dies.name();
  HostOf(hung_).hold_reports = 1'000'000;
  cluster_.Kill(dies);
  cluster_.SessionEnds(dead, Millis(10));
  return cluster_.RunUntil(
      [&] {
        const auto node = master().logic().regions.Get(lost_);
        return node && node->state == RegionState::kOpen && node->location != dead;
      },
      Millis(5'000));
}

// A close of a merge ends with its region open on another server, and the master dies before the merge has read that.
// Then the new server dies too. Returns what is wrong with the region's location in the next master's memory.
std::string ReshapeTest::LocationOfTheLostRegionAfterAFailover() {
  GivenTwoRegionsOnTwoServers();
  cluster_.WriteEverywhere();
  const auto merged = Merge({lost_, hung_});
  EXPECT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("CloseRegion").size() == 2; }));
  sim::SimServer& hangs = HostOf(hung_);
  EXPECT_TRUE(OpensTheLostRegionElsewhere()) << master().Unfinished();
  cluster_.WriteEverywhere();
  const auto before = master().logic().regions.Get(lost_);
  cluster_.KillMaster();
  cluster_.StartMaster();
  EXPECT_TRUE(cluster_.RunUntil([&] { return master().logic().regions.Get(lost_).has_value(); }));
  const auto after = master().logic().regions.Get(lost_);
  if (!before || !after) return "the region is unknown";
  if (after->location != before->location) return "the region has the location from before the merge";
  cluster_.Kill(HostOf(lost_));
  hangs.hold_reports = 0;
  hangs.ReleaseReports();
  ExpectSettled();
  ExpectServed("t", 2);
  return "";
}

// The server of one region dies, and that of the other answers no order until the first region is open again.
void ReshapeTest::ExpectTheLostRegionOpensWhileTheOtherHangs(const Result<ProcId>& merged) {
  sim::SimServer& hangs = HostOf(hung_);
  ASSERT_TRUE(OpensTheLostRegionElsewhere()) << master().Unfinished();
  EXPECT_EQ(Outcome(merged), "unfinished") << "the other close is not settled";
  hangs.hold_reports = 0;
  hangs.ReleaseReports();
  ExpectSettled();
  EXPECT_NE(Outcome(merged).find("rolled back"), std::string::npos) << Outcome(merged);
  ExpectServed("t", 2);
}

namespace {

TEST_F(ReshapeTest, ASplitMakesTwoRegionsOfOne) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  const RegionInfo parent = Regions("t")[1].info;
  const auto pid = Split(parent.encoded_name(), "m");
  ExpectLive(3);
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_EQ(Live()[1].info.end_key, "m");
  EXPECT_EQ(Live()[2].info.start_key, "m");
  EXPECT_GT(Live()[2].info.region_id, parent.region_id);
  const RegionRow row = cluster_.meta().regions().at(parent.encoded_name());
  EXPECT_EQ(row.state, RegionState::kSplit);
  EXPECT_TRUE(row.region.split && row.region.offline);
  EXPECT_EQ(row.daughters.size(), 2U);
  LetTheJanitorCome();
  EXPECT_FALSE(cluster_.meta().regions().contains(parent.encoded_name()));
  EXPECT_EQ(Directories(), 3U);
  ExpectLive(3);
}

// HBase's client retries with the same nonce; HBaseIOException means that a retry helps.
TEST_F(ReshapeTest, ClientsRetryIsAnsweredAfterTheMove) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  const auto refused_class = [](const Result<ProcId>& pid) { return pid.ok() ? "" : pid.error().remote_class(); };
  ASSERT_TRUE(Move(Encoded("t")).ok());
  ASSERT_TRUE(
      cluster_.RunUntil([&] { return master().logic().regions.Get(Encoded("t"))->state == RegionState::kClosing; }));
  EXPECT_EQ(refused_class(Merge({Encoded("t", 0), Encoded("t", 1)}, {7, 1})),
            "org.apache.hadoop.hbase.HBaseIOException");
  EXPECT_EQ(refused_class(Split(Encoded("t"), "a", {7, 2})), "org.apache.hadoop.hbase.HBaseIOException");
  ExpectSettled();
  const auto retried = Split(Encoded("t"), "a", {7, 2});
  ExpectLive(3);
  EXPECT_EQ(Outcome(retried), "success");
  const auto merged = Merge({Live()[1].encoded, Live()[2].encoded}, {7, 1});
  ExpectLive(2);
  EXPECT_EQ(Outcome(merged), "success");
}

// A permanent refusal is kept: a late copy of the request does nothing that its client no longer expects.
TEST_F(ReshapeTest, AFinalRefusalIsKeptUnderItsNonce) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string region = Encoded("t");
  ASSERT_TRUE(Disable("t").ok());
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_FALSE(Split(region, "a", {7, 3}).ok());
  ASSERT_TRUE(Enable("t").ok());
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_FALSE(Split(region, "a", {7, 3}).ok());
  EXPECT_TRUE(Split(region, "a", {7, 4}).ok());
  ExpectLive(2);
}

TEST_F(ReshapeTest, TheJanitorKeepsToItsInterval) {
  cluster_.master_options.reconciler.janitor_interval = Millis(60'000);
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  master().logic().reconciler.Sweep();  // the first check; the next one is due in a minute
  ASSERT_TRUE(Split(parent, "m").ok());
  ExpectLive(2);
  LetTheJanitorCome();
  EXPECT_TRUE(cluster_.meta().regions().contains(parent));
  ASSERT_TRUE(cluster_.RunFor(Millis(60'000)));
  LetTheJanitorCome();
  EXPECT_FALSE(cluster_.meta().regions().contains(parent));
}

TEST_F(ReshapeTest, ARowThatIsBeingRemovedIsNotWrittenAgain) { EXPECT_FALSE(ParentsRowComesBack()); }

TEST_F(ReshapeTest, RemovingARowThatNoProcedureOwnsIsNoticed) {
  const ScopedMutant mutant("master.garbage_of_nobody");
  EXPECT_TRUE(ParentsRowComesBack());
}

TEST_F(ReshapeTest, ServerChoosesAMissingSplitKey) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "");
  ExpectLive(2);
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_EQ(Live()[1].info.start_key, "h");
}

TEST_F(ReshapeTest, WhatCannotBeSplitIsRefused) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string second = Encoded("t", 1);
  EXPECT_FALSE(Split(second, "b").ok()) << "its start key";
  EXPECT_FALSE(Split(second, "a").ok()) << "before it";
  EXPECT_FALSE(Split(Encoded("t", 0), "b").ok()) << "its end key";
  EXPECT_FALSE(Split("nosuch", "m").ok());
  EXPECT_FALSE(Split(std::string(kMetaEncodedName), "m").ok());
  EXPECT_FALSE(Merge({second}).ok());
  EXPECT_FALSE(Merge({second, second}).ok());
  EXPECT_EQ(Outcome([&] {
              const auto pid = Disable("t");
              EXPECT_TRUE(cluster_.Settle());
              return pid;
            }()),
            "success");
  EXPECT_FALSE(Split(second, "m").ok());
}

TEST_F(ReshapeTest, TableMayForbidSplitAndMerge) {
  cluster_.Boot(2);
  TableDescriptor descriptor = Descriptor("t");
  descriptor.attributes["SPLIT_ENABLED"] = "false";
  descriptor.attributes["MERGE_ENABLED"] = "false";
  ASSERT_TRUE(master().Ask([&](Done done) { admin().CreateTable(descriptor, Splits(2), {"me", {}}, done); }).ok());
  ASSERT_TRUE(cluster_.Settle());
  cluster_.WriteEverywhere();
  const auto split = Split(Encoded("t", 1), "m");
  const auto merge = Merge({Encoded("t", 0), Encoded("t", 1)});
  EXPECT_FALSE(split.ok());
  EXPECT_FALSE(merge.ok());
  ExpectServed("t", 2);
  EXPECT_NE(Outcome(split).find("SPLIT_ENABLED"), std::string::npos) << Outcome(split);
  EXPECT_NE(Outcome(merge).find("MERGE_ENABLED"), std::string::npos) << Outcome(merge);
}

TEST_F(ReshapeTest, AMergeMakesOneRegionOfNeighbours) {
  cluster_.Boot(3);
  GivenTable("t", 4);
  const auto before = Regions("t");
  EXPECT_FALSE(Merge({before[0].encoded, before[2].encoded}).ok()) << "with a gap";
  const auto pid = Merge({before[2].encoded, before[0].encoded, before[1].encoded});
  ExpectLive(2);
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_EQ(Live()[0].info.end_key, before[2].info.end_key);
  EXPECT_EQ(cluster_.meta().regions().at(Live()[0].encoded).merged_from.size(), 3U);
  EXPECT_EQ(Directories(), 5U);
  LetTheJanitorCome();
  EXPECT_EQ(Directories(), 2U);
  EXPECT_TRUE(cluster_.meta().regions().at(Live()[0].encoded).merged_from.empty());
  ExpectLive(2);
}

TEST_F(ReshapeTest, DaughtersAreSplitAndMergedAtOnce) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  ASSERT_TRUE(Split(Encoded("t"), "m").ok());
  ExpectLive(2);
  ASSERT_TRUE(Split(Live()[0].encoded, "f").ok());
  ExpectLive(3);
  ASSERT_TRUE(Merge({Live()[0].encoded, Live()[1].encoded, Live()[2].encoded}).ok());
  ExpectLive(1);
  LetTheJanitorCome();
  EXPECT_EQ(Directories(), 1U);
}

TEST_F(ReshapeTest, ParentsOfAMergedRegionAreCollectedWhateverItsFate) {
  EXPECT_EQ(DirectoriesLeftBehind("merge"), 0U);
}
TEST_F(ReshapeTest, ParentsOfAMergedRegionAreCollectedAfterItsSplit) { EXPECT_EQ(DirectoriesLeftBehind("split"), 0U); }
TEST_F(ReshapeTest, ParentsOfAMergedRegionAreCollectedAfterItsTruncation) {
  EXPECT_EQ(DirectoriesLeftBehind("truncate"), 0U);
}
TEST_F(ReshapeTest, ForgettingTheParentsOfAMergedRegionIsNoticed) {
  const ScopedMutant mutant("master.forget_merged_parents");
  EXPECT_EQ(DirectoriesLeftBehind("split"), 2U);
}

// S43 (no locks while regions may wait): no region is opened under the locks of the split, and its parent is open again
// before the failure is reported.
TEST_F(ReshapeTest, ASplitWhoseServerDiesIsGivenUp) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  sim::SimServer& host = HostOf(parent);
  const auto pid = Split(parent, "m");
  ASSERT_TRUE(RunTo("CloseRegion", "DISPATCH"));
  cluster_.Kill(host);
  ExpectLive(1);
  EXPECT_NE(Outcome(pid).find("its server has died"), std::string::npos) << Outcome(pid);
  EXPECT_EQ(Live()[0].encoded, parent);
  EXPECT_EQ(Directories(), 1U);
  ASSERT_TRUE(Split(parent, "k").ok()) << "again";
  ExpectLive(2);
}

TEST_F(ReshapeTest, AMergeOneOfWhoseServersDiesOpensAllOfItsParentsAgain) {
  cluster_.Boot(4);
  GivenTable("t", 3);
  const auto before = Regions("t");
  const auto pid = Merge({before[0].encoded, before[1].encoded, before[2].encoded});
  ASSERT_TRUE(RunTo("CloseRegion", "DISPATCH"));
  cluster_.Kill(HostOf(before[1].encoded));
  ExpectLive(3);
  EXPECT_NE(Outcome(pid).find("was rolled back"), std::string::npos) << Outcome(pid);
  EXPECT_EQ(Directories(), 3U);
}

TEST_F(ReshapeTest, AServerThatDiesWhileItBuildsIsReplaced) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  const auto pid = Split(parent, "m");
  sim::SimServer& host = HostOf(parent);
  ASSERT_TRUE(RunTo("BuildRegions", "DISPATCH"));
  cluster_.Kill(host);
  ExpectLive(2);
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(ReshapeTest, ABuildThatEveryServerRefusesIsGivenUp) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 10;
  const auto pid = Split(parent, "m");
  ExpectLive(1);
  EXPECT_NE(Outcome(pid).find("told to refuse"), std::string::npos) << Outcome(pid);
  EXPECT_EQ(Live()[0].encoded, parent);
  EXPECT_EQ(Directories(), 1U);
}

// S42 (look again after locking): procedures that waited for the parent's lock find it split.
TEST_F(ReshapeTest, AMoveThatWaitedForASplitDoesNotOpenTheParentAgain) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const RegionInfo parent = Regions("t")[0].info;
  const auto split = Split(parent.encoded_name(), "m");
  ASSERT_TRUE(RunTo("SplitTableRegion", "CHECK_CLOSED_REGIONS"));
  const auto pid = master().executor().Submit(TransitRegionState::Move(parent, std::nullopt), {"me", {}, {}});
  ASSERT_TRUE(pid.ok());
  ExpectLive(2);
  EXPECT_EQ(Outcome(split), "success");
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(ReshapeTest, MoveWithoutACheckUnderItsLockIsNoticed) {
  const ScopedMutant mutant("master.no_look_behind_the_lock");
  cluster_.Boot(3);
  GivenTable("t", 1);
  const RegionInfo parent = Regions("t")[0].info;
  ASSERT_TRUE(Split(parent.encoded_name(), "m").ok());
  ASSERT_TRUE(RunTo("SplitTableRegion", "CHECK_CLOSED_REGIONS"));
  const auto pid = master().executor().Submit(TransitRegionState::Move(parent, std::nullopt), {"me", {}, {}});
  ASSERT_TRUE(pid.ok());
  EXPECT_FALSE(cluster_.Settle());
  EXPECT_EQ(Outcome(pid), "unfinished") << "what the test above would notice";
}

// S43: one daughter that no server opens does not block the crash procedure of the other one.
TEST_F(ReshapeTest, UnopenableDaughterBlocksNothing) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(RunTo("SplitTableRegion", "UPDATE_META"));
  std::string left;
  for (const RegionNode& node : Regions("t")) {
    if (node.info.end_key == "m") left = node.encoded;
  }
  cluster_.storage().damaged.insert(left);
  const auto right_is_open = [&] {
    for (const RegionNode& node : Regions("t")) {
      if (node.info.start_key == "m" && node.state == RegionState::kOpen) return true;
    }
    return false;
  };
  ASSERT_TRUE(cluster_.RunUntil(right_is_open));
  const std::string right = Live().back().encoded;
  cluster_.Kill(HostOf(right));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !right_is_open(); }));
  ASSERT_TRUE(cluster_.RunUntil(right_is_open)) << master().Unfinished();
  cluster_.storage().damaged.clear();
  ExpectLive(2);
  EXPECT_EQ(Outcome(pid), "success");
}

// S40 (durable commit point): a lost answer is not a refusal.
TEST_F(ReshapeTest, LostAnswerOfTheCommitIsReadBack) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(RunTo("SplitTableRegion", "UPDATE_META"));
  cluster_.Kill(MetaHost());
  ExpectLive(2);
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(ReshapeTest, BypassIsRefusedWhileTheCommitMayBeInProgress) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(RunTo("SplitTableRegion", "UPDATE_META"));
  std::string answer;
  master().executor().Bypass(*pid, true, {"op", "enough"},
                             [&](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
  ExpectLive(2);
  EXPECT_NE(answer.find("may be in progress"), std::string::npos) << answer;
}

TEST_F(ReshapeTest, BypassedSplitLeavesNoPartialRegion) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  ASSERT_TRUE(Split(parent, "m").ok());
  ASSERT_TRUE(RunTo("BuildRegions", "DISPATCH"));
  BypassTheOnly("SplitTableRegion");
  for (int look = 0; look < 3; ++look) {
    ASSERT_TRUE(cluster_.RunFor(Millis(1'100)));
    master().logic().reconciler.Sweep();
    master().logic().reconciler.CompareWithMeta([](const Status&) {});
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
  EXPECT_EQ(Regions("t").size(), 1U);
  EXPECT_EQ(cluster_.meta().regions().size(), 1U);
  const auto pid = Assign(parent);
  ExpectLive(1);
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(ReshapeTest, DisableWaitsForTheSplit) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  ASSERT_TRUE(Split(Encoded("t"), "a").ok());
  ASSERT_TRUE(RunTo("SplitTableRegion", "CREATE_DAUGHTER_REGIONS"));
  const auto pid = Disable("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
  for (const RegionNode& node : Live()) EXPECT_EQ(node.state, RegionState::kClosed);
  const auto again = Enable("t");
  ExpectLive(3);
  EXPECT_EQ(Outcome(again), "success");
  const auto off = Disable("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(off), "success");
  const auto gone = Delete("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(gone), "success");
  EXPECT_EQ(cluster_.meta().regions().size(), 0U);
}

TEST_F(ReshapeTest, ASplitThatIsAbortedBeforeTheCloseLeavesEverythingAsItWas) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(RunTo("FlushRegion", "DISPATCH"));
  master().executor().Abort(*pid, {"op", "no"}, [](const Status&) {});
  ExpectServed("t", 1);
  EXPECT_EQ(Directories(), 1U);
}

// A server dies, its crash procedure leaves the region to the merge, and the merge is aborted: the merge has the region
// assigned at once.
TEST_F(ReshapeTest, AbortedMergeAssignsLostRegions) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const auto before = Regions("t");
  const auto pid = Merge({before[0].encoded, before[1].encoded});
  ASSERT_TRUE(RunTo("FlushRegion", "DISPATCH"));
  const auto scope = procedure::PauseScope::Type("MergeTableRegions");
  master().executor().Pause(scope, {"op", "wait"}, Millis(0), [](const auto&) {});
  cluster_.Kill(HostOf(before[0].encoded));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("ServerCrash").empty(); }));
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("ServerCrash").empty(); }));
  master().executor().Abort(*pid, {"op", "no"}, [](const Status&) {});
  master().executor().Resume(scope, {"op", "wait"}, [](const Status&) {});
  ExpectLive(3);
  EXPECT_NE(Outcome(pid), "success");
  EXPECT_EQ(master().logic().reconciler.Findings().size(), 0U);
}

// The close of one region waits for a server that hangs; the other region, whose server has died, does not wait for it.
TEST_F(ReshapeTest, AMergeThatIsGivenUpOpensALostRegionBeforeTheOtherIsClosed) {
  GivenTwoRegionsOnTwoServers();
  const auto merged = Merge({lost_, hung_});
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("CloseRegion").size() == 2; }));
  ExpectTheLostRegionOpensWhileTheOtherHangs(merged);
}

// The flush before the closes is not answered either.
TEST_F(ReshapeTest, AMergeDoesNotWaitForAServerThatHangsDuringTheFlush) {
  GivenTwoRegionsOnTwoServers();
  HostOf(hung_).hold_reports = 1'000'000;
  const auto merged = Merge({lost_, hung_});
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("FlushRegion").size() == 2; }));
  ExpectTheLostRegionOpensWhileTheOtherHangs(merged);
}

// The crash procedure of the new server must find the region, otherwise the server's log is split without it, and the
// rows that were written there are lost.
TEST_F(ReshapeTest, ARegionThatAnUnreadCloseHasOpenedElsewhereSurvivesAFailover) {
  EXPECT_EQ(LocationOfTheLostRegionAfterAFailover(), "");
}

TEST_F(ReshapeTest, ForgettingWhereAnUnreadCloseOpenedItsRegionIsNoticed) {
  ExpectKilled(
      "master.restore_parents_only", [&] { return LocationOfTheLostRegionAfterAFailover(); },
      "the location from before the merge");
}

}  // namespace
}  // namespace ratchet::master
