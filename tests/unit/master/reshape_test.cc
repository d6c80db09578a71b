// Splits and merges: the regions of a table cover its keys at every moment, no acknowledged write is lost, and what
// cannot be carried through ends with the parents open again (S35 to S43).
#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/control/reconciler.h"
#include "master/procedures/transit_region_state.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {

// S103. A merged region is merged, split or truncated before the janitor has come: how many directories stay for ever?
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

// The parent's row is gone, and the answer that says so was lost: whether the comparison with hbase:meta writes it
// again.
bool ReshapeTest::ParentsRowComesBack() {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  EXPECT_TRUE(Split(parent, "m").ok());
  EXPECT_TRUE(cluster_.Settle());
  const auto scope = procedure::PauseScope::Type("GCRegion");
  master().logic().reconciler().Sweep();
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
    master().logic().reconciler().CompareWithMeta([](const Status&) {});
    EXPECT_TRUE(cluster_.RunFor(Millis(100)));
  }
  return cluster_.meta().regions().contains(parent);
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

TEST_F(ReshapeTest, TheJanitorKeepsToItsInterval) {
  cluster_.master_options.reconciler.janitor_interval = Millis(60'000);
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  master().logic().reconciler().Sweep();  // the first look; the next one is due in a minute
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

TEST_F(ReshapeTest, WithoutAKeyTheServerSaysWhere) {
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

TEST_F(ReshapeTest, ATableMayForbidBoth) {
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

TEST_F(ReshapeTest, WhatAMergedRegionWasMadeOfIsGivenUpWhateverBecomesOfIt) {
  EXPECT_EQ(DirectoriesLeftBehind("merge"), 0U);
}
TEST_F(ReshapeTest, WhatAMergedRegionWasMadeOfIsGivenUpWhenItIsSplit) { EXPECT_EQ(DirectoriesLeftBehind("split"), 0U); }
TEST_F(ReshapeTest, WhatAMergedRegionWasMadeOfIsGivenUpWhenItIsTruncated) {
  EXPECT_EQ(DirectoriesLeftBehind("truncate"), 0U);
}
TEST_F(ReshapeTest, ForgettingWhatAMergedRegionWasMadeOfIsNoticed) {
  const ScopedMutant mutant("master.forget_merged_parents");
  EXPECT_EQ(DirectoriesLeftBehind("split"), 2U);
}

// S43: nothing is opened under the locks of the split, and its parent is open again before the failure is told.
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
  EXPECT_NE(Outcome(pid).find("was given up"), std::string::npos) << Outcome(pid);
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

// S42: procedures that waited for the parent's lock find it split.
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

TEST_F(ReshapeTest, WithoutALookBehindTheLockTheMoveGoesAstray) {
  const ScopedMutant mutant("master.no_look_behind_the_lock");
  cluster_.Boot(3);
  GivenTable("t", 1);
  const RegionInfo parent = Regions("t")[0].info;
  ASSERT_TRUE(Split(parent.encoded_name(), "m").ok());
  ASSERT_TRUE(RunTo("SplitTableRegion", "CHECK_CLOSED_REGIONS"));
  const auto pid = master().executor().Submit(TransitRegionState::Move(parent, std::nullopt), {"me", {}, {}});
  ASSERT_TRUE(pid.ok());
  (void)cluster_.Settle();
  EXPECT_NE(Outcome(pid), "success") << "what the test above would notice";
}

// S43: one daughter that no server opens does not keep the other one's crash procedure waiting.
TEST_F(ReshapeTest, ADaughterThatNoServerOpensHoldsNothingUp) {
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

// S40: an answer that is lost is no answer.
TEST_F(ReshapeTest, ALostAnswerOfTheCommitIsAskedForAgain) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(RunTo("SplitTableRegion", "UPDATE_META"));
  cluster_.Kill(MetaHost());
  ExpectLive(2);
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(ReshapeTest, AnOperatorCannotEndItWhileItsCommitMayBeUnderWay) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(RunTo("SplitTableRegion", "UPDATE_META"));
  std::string answer;
  master().executor().Bypass(*pid, true, {"op", "enough"},
                             [&](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
  ExpectLive(2);
  EXPECT_NE(answer.find("may be under way"), std::string::npos) << answer;
}

TEST_F(ReshapeTest, ASplitThatAnOperatorEndsLeavesNoHalfMadeRegion) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const std::string parent = Encoded("t");
  ASSERT_TRUE(Split(parent, "m").ok());
  ASSERT_TRUE(RunTo("BuildRegions", "DISPATCH"));
  BypassTheOnly("SplitTableRegion");
  for (int look = 0; look < 3; ++look) {
    ASSERT_TRUE(cluster_.RunFor(Millis(1'100)));
    master().logic().reconciler().Sweep();
    master().logic().reconciler().CompareWithMeta([](const Status&) {});
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
  EXPECT_EQ(Regions("t").size(), 1U);
  EXPECT_EQ(cluster_.meta().regions().size(), 1U);
  const auto pid = Assign(parent);
  ExpectLive(1);
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(ReshapeTest, ADisablingDuringASplitComesAfterIt) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  ASSERT_TRUE(Split(Encoded("t"), "a").ok());
  ASSERT_TRUE(RunTo("SplitTableRegion", "WRITE_DAUGHTER_MANIFESTS"));
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

// A server dies, its crash procedure leaves the region to the merge, and the merge is aborted: it has the region
// assigned at once.
TEST_F(ReshapeTest, AnAbortedMergeHasWhatIsLostAssigned) {
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
  EXPECT_EQ(master().logic().reconciler().Findings().size(), 0U);
}

}  // namespace
}  // namespace ratchet::master
