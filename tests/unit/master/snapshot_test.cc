// Snapshots in a simulated cluster: taking them (S45: snapshot hold; S46: source of a snapshot part), cloning,
// restoring, deleting.
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/base/mutant.h"
#include "master/cluster/snapshot_book.h"
#include "master/cluster/switches.h"
#include "master/requests/snapshot_admin.h"
#include "master/requests/switch_admin.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {
namespace {

class SnapshotTest : public ReshapeTest {
 protected:
  SnapshotAdmin& snapshots() { return master().logic().snapshot_admin; }
  Result<ProcId> Take(const std::string& name, const std::string& table = "t", std::int64_t ttl = 0) {
    hbase::pb::SnapshotDescription description;
    description.set_name(name);
    description.set_table(table);
    description.set_ttl(ttl);
    return master().Ask([&](Done done) { snapshots().TakeSnapshot(description, {"me", {}}, done); });
  }
  Result<ProcId> PutBack(const std::string& name, const std::string& table) {
    return master().Ask([&](Done done) { snapshots().PutBack(name, TableName("default", table), {"me", {}}, done); });
  }
  Status DeleteNow(const std::string& name) {
    Status outcome = Error(Code::kInternal, "not answered");
    snapshots().Delete(name, [&outcome](const Status& deleted) { outcome = deleted; });
    return outcome;
  }
  // Returns the answer to a client that waits for the end of the snapshot: yes, no, or the error.
  std::string IsDone(const std::string& name) {
    std::string said = "not answered";
    snapshots().IsDone(name, [&said](const Result<bool>& done) {
      said = !done.ok() ? done.error().remote_class() : *done ? "yes" : "no";
    });
    return said;
  }
  std::string Names() {
    std::string names;
    snapshots().List([&names](const auto& all) {
      if (!all.ok()) return;
      for (const auto& snapshot : *all) names += fmt::format("{}:{} ", snapshot.name(), snapshot.regions());
    });
    return names;
  }
  std::string Settled(const Result<ProcId>& pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return Outcome(pid);
  }
  std::string ClassOf(const Result<ProcId>& pid) {
    const std::string name = pid.ok() ? "" : pid.error().remote_class();
    return name.substr(name.rfind('.') + 1);
  }
  void ReleaseAll() {
    for (sim::SimServer* server : cluster_.Alive()) {
      server->hold_reports = 0;
      server->ReleaseReports();
    }
  }
  // The values of the table's regions, by start key, and whether each is what was acknowledged (CheckSettled).
  void ExpectOpen(const std::string& table, std::size_t regions) {
    ExpectSettled();
    ASSERT_EQ(Regions(table).size(), regions);
    for (const RegionNode& node : Regions(table)) EXPECT_EQ(node.state, RegionState::kOpen) << node.encoded;
    cluster_.WriteEverywhere();
    EXPECT_EQ(cluster_.CheckSettled(), "");
  }
};

TEST_F(SnapshotTest, OfAnEnabledTable) {
  cluster_.Boot(3);
  GivenTable("t", 4);
  EXPECT_EQ(Settled(Take("s")), "success");
  EXPECT_EQ(Names(), "s:4 ");
  ExpectOpen("t", 4);
}

TEST_F(SnapshotTest, OfADisabledTable) {
  cluster_.Boot(3);
  GivenTable("t", 4);
  EXPECT_EQ(Settled(Disable("t")), "success");
  EXPECT_EQ(Settled(Take("s")), "success");
  EXPECT_EQ(Names(), "s:4 ");
}

TEST_F(SnapshotTest, InvalidSnapshotRequestIsRefused) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  EXPECT_EQ(ClassOf(Take("s", "nothing")), "SnapshotCreationException");
  EXPECT_EQ(ClassOf(Take("-s")), "DoNotRetryIOException");
  EXPECT_EQ(ClassOf(Take("s", "hbase:meta")), "DoNotRetryIOException");
  EXPECT_EQ(Settled(Take("s")), "success");
  EXPECT_EQ(ClassOf(Take("s")), "SnapshotExistsException");
  EXPECT_EQ(ClassOf(PutBack("another", "c")), "SnapshotDoesNotExistException");
  EXPECT_EQ(ClassOf(PutBack("s", "t")), "TableNotDisabledException");
  EXPECT_NE(DeleteNow("another").error().remote_class().find("SnapshotDoesNotExistException"), std::string::npos);
}

TEST_F(SnapshotTest, OneSnapshotPerTableAtATime) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const auto first = Take("s");
  ASSERT_TRUE(RunTo("SnapshotRegion", "DISPATCH"));
  EXPECT_EQ(ClassOf(Take("other")), "SnapshotCreationException");
  EXPECT_EQ(Settled(first), "success");
  EXPECT_EQ(Settled(Take("other")), "success");
  EXPECT_EQ(Names(), "other:2 s:2 ");
}

// After the answer yes, the next request about the name or the table is not refused.
TEST_F(SnapshotTest, ASnapshotIsDoneWhenItsNameAndItsTableAreFree) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  EXPECT_THAT(IsDone("s"), ::testing::HasSubstr("UnknownSnapshotException"));
  const auto taken = Take("s");
  int complete_but_taken = 0;
  const auto done = [&] {
    const std::string said = IsDone("s");
    if (Outcome(taken) == "unfinished" && !Names().empty()) ++complete_but_taken;
    EXPECT_THAT(said, ::testing::AnyOf("yes", "no"));
    return said == "yes";
  };
  ASSERT_TRUE(cluster_.RunUntil(done)) << master().Unfinished();
  EXPECT_GT(complete_but_taken, 0) << "no time between the last file and the end";
  EXPECT_EQ(ClassOf(Take("s")), "SnapshotExistsException");
  EXPECT_EQ(Settled(Take("other")), "success");
}

TEST_F(SnapshotTest, ACloneHasItsRegionsAndItsValues) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  EXPECT_EQ(Settled(Take("s")), "success");
  cluster_.WriteEverywhere();
  EXPECT_EQ(Settled(PutBack("s", "c")), "success");
  ExpectOpen("c", 3);
}

TEST_F(SnapshotTest, ADroppedTableIsCloned) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  EXPECT_EQ(Settled(Take("s")), "success");
  EXPECT_EQ(Settled(Disable("t")), "success");
  EXPECT_EQ(Settled(Delete("t")), "success");
  EXPECT_EQ(Settled(PutBack("s", "t")), "success");
  ExpectOpen("t", 3);
}

TEST_F(SnapshotTest, ADisabledTableIsRestored) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  EXPECT_EQ(Settled(Take("s")), "success");
  ASSERT_EQ(Settled(Split(Encoded("t"), "abc")), "success");
  ExpectLive(4);
  EXPECT_EQ(Settled(Disable("t")), "success");
  EXPECT_EQ(Settled(PutBack("s", "t")), "success");
  EXPECT_EQ(master().logic().tables.Get(TableName("default", "t"))->state, TableState::kDisabled);
  EXPECT_EQ(Settled(Enable("t")), "success");
  ExpectOpen("t", 3);
}

TEST_F(SnapshotTest, CloneSurvivesDeletionOfItsSnapshot) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  EXPECT_EQ(Settled(Take("s")), "success");
  EXPECT_EQ(Settled(PutBack("s", "c")), "success");
  EXPECT_TRUE(DeleteNow("s").ok());
  EXPECT_EQ(Names(), "");
  EXPECT_EQ(Settled(PutBack("s", "d")).find("Snapshot 's' doesn't exist") != std::string::npos, true);
  ExpectOpen("c", 2);
}

// S45 (snapshot hold).
TEST_F(SnapshotTest, SplitAndMergeAreRefusedDuringASnapshot) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  for (sim::SimServer* server : cluster_.Alive()) server->hold_reports = 100;
  const auto taken = Take("s");
  ASSERT_TRUE(RunTo("SnapshotRegion", "DISPATCH"));
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  const auto split = Split(Encoded("t"), "abc");
  const auto merge = Merge({Encoded("t", 0), Encoded("t", 1)});
  const auto truncate = Truncate(Encoded("t", 1));
  for (const auto& refused : {split, merge, truncate}) {
    ASSERT_TRUE(cluster_.RunUntil([&] { return Outcome(refused) != "unfinished"; })) << master().Unfinished();
  }
  ReleaseAll();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_NE(Outcome(split).find("is taking snapshot s of table t"), std::string::npos) << Outcome(split);
  EXPECT_NE(Outcome(merge).find("is taking snapshot s of table t"), std::string::npos) << Outcome(merge);
  EXPECT_NE(Outcome(truncate).find("is taking snapshot s of table t"), std::string::npos) << Outcome(truncate);
  EXPECT_EQ(Outcome(taken), "success");
  EXPECT_EQ(Settled(Split(Encoded("t"), "abc")), "success") << "it does not outlast the snapshot";
}

TEST_F(SnapshotTest, SplittingDuringASnapshotIsNoticed) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  const ScopedMutant mutant("snapshot.no_hold");
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 1;
  const auto taken = Take("s");
  ASSERT_TRUE(RunTo("SnapshotRegion", "DISPATCH"));
  const auto split = Split(Encoded("t"), "abc");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Outcome(split), "success");
  EXPECT_THAT(Outcome(taken), ::testing::HasSubstr("is gone: it was truncated or given up"));
}

TEST_F(SnapshotTest, AbortedSnapshotLeavesNothing) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  const auto taken = Take("s");
  ASSERT_TRUE(RunTo("SnapshotRegion", "DISPATCH"));
  master().executor().Abort(*taken, {"me", "test"}, [](const Status&) {});
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_NE(Outcome(taken), "success");
  EXPECT_EQ(Names(), "");
  snapshots().CleanUp();
  EXPECT_TRUE(cluster_.storage().snapshots.empty());
  EXPECT_EQ(Settled(Split(Encoded("t"), "abc")), "success") << "nothing holds the table";
  EXPECT_EQ(Settled(Take("s")), "success") << "the name is free";
}

TEST_F(SnapshotTest, BypassedSnapshotHoldsNothing) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  for (sim::SimServer* server : cluster_.Alive()) server->hold_reports = 100;
  const auto taken = Take("s");
  ASSERT_TRUE(RunTo("SnapshotRegion", "DISPATCH"));
  master().executor().Bypass(*taken, /*recursive=*/true, {"me", "test"}, [](const Status&) {});
  ReleaseAll();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Names(), "") << "what is not complete is none";
  snapshots().CleanUp();
  EXPECT_TRUE(cluster_.storage().snapshots.empty());
  EXPECT_EQ(Settled(Split(Encoded("t"), "abc")), "success");
}

// The snapshot waits for a region that is not open anywhere; the table may be disabled meanwhile.
TEST_F(SnapshotTest, ARegionOfADeadServerIsWaitedFor) {
  cluster_.Boot(3);
  GivenTable("t", 4);
  cluster_.Kill(HostOf(Encoded("t")));
  const auto taken = Take("s");
  EXPECT_EQ(Settled(taken), "success");
  EXPECT_EQ(Names(), "s:4 ");
  EXPECT_EQ(Settled(PutBack("s", "c")), "success");
  ExpectOpen("c", 4);
}

// A region that is permanently closed is never opened: waiting for it would not end.
TEST_F(SnapshotTest, ARegionThatWasNotClosedCleanlyIsNotWaitedForForEver) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  EXPECT_EQ(Settled(Unassign(encoded)), "success");
  cluster_.storage().regions[encoded].closed = false;
  const std::string ended = Settled(Take("s"));
  EXPECT_NE(ended.find("open the region"), std::string::npos) << ended;
  EXPECT_TRUE(cluster_.storage().snapshots.empty());
  EXPECT_EQ(Settled(Assign(encoded)), "success");
  EXPECT_EQ(Settled(Take("s")), "success");
  EXPECT_EQ(Names(), "s:2 ");
}

TEST_F(SnapshotTest, ExpiredSnapshotIsRemoved) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  EXPECT_EQ(Settled(Take("s")), "success");
  EXPECT_EQ(Settled(Take("for_a_minute", "t", 60)), "success");
  snapshots().CleanUp();
  EXPECT_EQ(Names(), "for_a_minute:2 s:2 ");
  ASSERT_TRUE(cluster_.RunFor(Millis(62'000)));
  const auto switch_cleanup = [this](bool on) {
    bool done = false;
    master().logic().switch_admin.Set({{Switch::kSnapshotCleanup}, on, false, {"me", {}}},
                                      [&done](const Result<std::vector<bool>>& before) { done = before.ok(); });
    EXPECT_TRUE(cluster_.RunUntil([&done] { return done; }));
  };
  switch_cleanup(false);
  snapshots().CleanUp();
  EXPECT_EQ(Names(), "for_a_minute:2 s:2 ") << "the switch is off";
  switch_cleanup(true);
  snapshots().CleanUp();
  EXPECT_EQ(Names(), "s:2 ");
}

// As in HBase an expired snapshot cannot be used, even before the cleaner deletes it.
TEST_F(SnapshotTest, AnExpiredSnapshotIsNotUsed) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  EXPECT_EQ(Settled(Take("short", "t", 60)), "success");
  EXPECT_EQ(Settled(Take("long", "t", 100'000'000'000'000'000)), "success") << "more than the milliseconds of an int64";
  EXPECT_EQ(Settled(PutBack("short", "early")), "success");
  ASSERT_TRUE(cluster_.RunFor(Millis(61'000)));
  EXPECT_EQ(ClassOf(PutBack("short", "late")), "SnapshotTTLExpiredException");
  EXPECT_EQ(Settled(Disable("t")), "success");
  EXPECT_EQ(ClassOf(PutBack("short", "t")), "SnapshotTTLExpiredException");
  EXPECT_EQ(Settled(PutBack("long", "late")), "success");
  EXPECT_TRUE(DeleteNow("short").ok());
  EXPECT_EQ(ClassOf(PutBack("short", "later")), "SnapshotDoesNotExistException");
}

// A second counts as a thousand milliseconds, not as up to two thousand.
TEST_F(SnapshotTest, ATimeToLiveEndsToTheMillisecond) {
  hbase::pb::SnapshotDescription description;
  description.set_creation_time(5'000);
  EXPECT_FALSE(IsExpired(description, INT64_MAX)) << "no time to live";
  description.set_ttl(2);
  EXPECT_FALSE(IsExpired(description, 7'000));
  EXPECT_TRUE(IsExpired(description, 7'001));
}

TEST_F(SnapshotTest, SnapshotFailsWhenItsTableIsDropped) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  for (sim::SimServer* server : cluster_.Alive()) server->order_time = Millis(500);
  const auto taken = Take("s");
  ASSERT_TRUE(RunTo("SnapshotRegion", "DISPATCH"));
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 2;
  const auto disabled = Disable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return Outcome(disabled) != "unfinished"; }));
  (void)Delete("t");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  if (Outcome(taken) == "success") {
    EXPECT_EQ(Names(), "s:2 ") << "it was quicker";
  } else {
    EXPECT_TRUE(cluster_.storage().snapshots.empty());
  }
}

TEST_F(SnapshotTest, ACloneFailsWhenItsSnapshotIsDeleted) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  EXPECT_EQ(Settled(Take("s")), "success");
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 2;
  const auto clone = PutBack("s", "c");
  ASSERT_TRUE(RunTo("CloneRegion", "DISPATCH"));
  EXPECT_TRUE(DeleteNow("s").ok());
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_NE(Outcome(clone).find("was deleted while it was being copied"), std::string::npos) << Outcome(clone);
  EXPECT_FALSE(master().logic().tables.Exists(TableName("default", "c")));
  ExpectOpen("t", 2);
}

}  // namespace
}  // namespace ratchet::master
