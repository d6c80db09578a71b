// After a bypass, at any moment, the reconciler brings the cluster to the state that the tables' and the servers'
// records require (S65: transition number reserved first; S66: table row last in, first out; S173: only creations add
// table rows). Other tests here cover events in the middle of a step.
#include "common/base/mutant.h"
#include "master/cluster/split_workers.h"
#include "master/procedures/table/table_steps.h"
#include "master/requests/snapshot_admin.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class BypassTest : public MasterTest {
 protected:
  void BypassWith(ProcId pid) {
    master().executor().Bypass(pid, true, {"op", "enough"}, [](const Status&) {});
  }
  ProcId Only(const char* type) {
    const auto found = master().executor().FindUnfinished(type);
    return found.size() == 1 ? found.front() : ProcId();
  }
  // Runs the periodic work that a real master does by chores and heartbeats.
  void LookAfter(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      (void)cluster_.RunFor(Millis(1'100));
      for (sim::SimServer* server : cluster_.Alive()) {
        if (!server->registered || !master().logic().servers.Heartbeat(server->name()).ok()) continue;
        std::vector<OnlineRegion> online;
        for (const auto& [encoded, region] : server->regions()) online.push_back({encoded, region.open_number});
        master().logic().reconciler.OnHeartbeat(server->name(), online);
      }
      master().logic().reconciler.Sweep();
      if (master().ready()) master().logic().reconciler.CompareWithMeta([](const Status&) {});
    }
  }
  // Returns the errors when all work has ended; empty: none.
  std::string End(std::size_t regions) {
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    if (std::string wrong = cluster_.CheckSettled(); !wrong.empty()) return wrong;
    if (cluster_.meta().regions().size() != regions)
      return "regions: " + std::to_string(cluster_.meta().regions().size());
    for (const RegionNode& node : Regions("t")) {
      if (node.state != RegionState::kOpen) return "a region is " + std::string(RegionStateText(node.state));
    }
    const std::size_t directories = cluster_.meta().tables().size() + 1;  // and hbase:meta's
    if (cluster_.storage().tables.size() != directories)
      return "directories: " + std::to_string(cluster_.storage().tables.size());
    return {};
  }

  // A DeleteTable was ended after it had removed one region's row; then a request asks to close the region.
  std::string ARowIsGone() {
    const std::string gone = Encoded("t", 1);
    cluster_.meta().mutable_regions().erase(gone);
    const auto pid = Unassign(gone);
    if (!pid.ok()) return pid.error().ToString();
    if (!cluster_.RunUntil([&] { return Only("TransitRegionState") != *pid; }))
      return "not at rest: " + master().Unfinished();
    for (const sim::SimServer* server : cluster_.Alive()) {
      if (server->IsOpen(gone)) return "it is still open";
    }
    return master().logic().regions.Get(gone) ? "it is still known" : "";
  }

  // A DeleteTable that was ended removes the table's row after all; its region is being opened, and another master
  // takes over.
  std::string ATableIsGone() {
    cluster_.Boot(2);
    GivenTable("t", 1);
    GivenTable("u", 1);  // an hbase:meta without any table would change nothing (S115: missing row is not evidence)
    const std::string encoded = Encoded("t");
    (void)Move(encoded, OtherThan(HostOf(encoded)).name());
    if (!cluster_.RunUntil([&] { return Only("OpenRegion").valid(); })) return "never opened";
    cluster_.KillMaster();
    cluster_.meta().mutable_tables().erase(TableName("default", "t"));
    cluster_.StartMaster();
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    LookAfter(4);
    for (const sim::SimServer* server : cluster_.Alive()) {
      if (server->IsOpen(encoded)) return "it is still open";
    }
    return cluster_.meta().regions().contains(encoded) ? "it still has a row" : "";
  }

  std::string AWriteIsCutShort() {
    cluster_.Boot(2);
    GivenTable("t", 1);
    const std::string encoded = Encoded("t");
    const ServerName target = OtherThan(HostOf(encoded)).name();
    (void)Move(encoded, target);
    const auto row = [&] { return cluster_.meta().regions().at(encoded); };
    if (!cluster_.RunUntil([&] { return row().state == RegionState::kOpen && row().location == target; }))
      return "never written";
    if (Regions("t")[0].state == RegionState::kOpen) return "heard of at once";
    BypassWith(Only("TransitRegionState"));
    LookAfter(4);
    return End(1);
  }

  // Bypasses a CreateTable once `there` holds. The next CreateTable of that name must find no trace of the first one.
  std::string ACreationIsCutShort(const std::function<bool()>& there) {
    (void)Create("t", 4);
    if (!cluster_.RunUntil(there)) return "it never came so far";
    BypassWith(Only("CreateTable"));
    (void)cluster_.RunUntil([&] { return !Only("CreateTable").valid(); });
    const auto again = Create("t", 2);
    LookAfter(8);
    if (!cluster_.Settle() || Outcome(again) != "success") return "the next one: " + Outcome(again);
    return End(2);
  }
  std::string ACreationIsCutShortBeforeMeta() {
    cluster_.Boot(2);
    return ACreationIsCutShort([&] { return cluster_.storage().tables.size() == 2; });
  }
  std::string ACreationIsCutShortInMeta() {
    cluster_.Boot(2);
    return ACreationIsCutShort(
        [&] { return cluster_.meta().regions().size() == 4 && cluster_.meta().tables().empty(); });
  }

  static const TableName& T() {
    static const TableName name("default", "t");
    return name;
  }
  // The next write of a table's row takes this time; then writes are as fast as before.
  void DelayTheNextRow(Millis time) {
    row_was_sent_ = false;
    cluster_.meta_write_delay = [this, time](const std::vector<MetaEdit>& edits) {
      if (!IsOfTable(edits.front().kind) || std::exchange(row_was_sent_, true)) return Millis(0);
      return time;
    };
  }
  // Bypasses the only procedure of this type when it has sent that write. Returns true if it has ended.
  bool BypassWhenTheRowWasSent(const char* type) {
    if (!cluster_.RunUntil([&] { return row_was_sent_; })) return false;
    BypassWith(Only(type));
    return cluster_.RunUntil([&] { return !Only(type).valid(); });
  }
  // Table t is disabled; table u keeps hbase:meta from being empty (S115: missing row is not evidence).
  void GivenADisabledTable() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    GivenTable("u", 1);
    (void)Disable("t");
    ExpectSettled();
  }

  // An EnableTable is bypassed while its state change is on its way. The change arrives after a DeleteTable.
  std::string AStateChangeArrivesAfterADeletion() {
    GivenADisabledTable();
    DelayTheNextRow(Millis(3'000));
    (void)Enable("t");
    if (!BypassWhenTheRowWasSent("EnableTable")) return "it was not bypassed";
    const auto deleted = Delete("t");
    if (!cluster_.RunUntil([&] { return Outcome(deleted) == "success"; }, Millis(2'000))) return Outcome(deleted);
    (void)cluster_.RunFor(Millis(4'000));
    if (cluster_.meta().tables().contains(T())) return "the row is back";
    LookAfter(4);
    return End(1);
  }
  // A DeleteTable is bypassed while the deletion of the row is on its way. Memory still has the table when the row is
  // gone, and a request enables it.
  std::string ATableWithoutARowIsEnabled() {
    GivenADisabledTable();
    DelayTheNextRow(Millis(1'000));
    (void)Delete("t");
    if (!BypassWhenTheRowWasSent("DeleteTable")) return "it was not bypassed";
    if (!cluster_.RunUntil([&] { return !cluster_.meta().tables().contains(T()); })) return "it never arrived";
    if (!master().logic().tables.Exists(T())) return "it is known that the row is gone";
    const auto enabled = Enable("t");
    if (!cluster_.RunUntil([&] { return Outcome(enabled) != "unfinished"; })) return "not at rest";
    if (Outcome(enabled).find("table t does not exist") == std::string::npos) return Outcome(enabled);
    LookAfter(4);
    return End(1);
  }

  // A DisableTable takes over a table whose regions cannot be opened, and is bypassed while its state change is on its
  // way. The EnableTable continues when the change has arrived.
  std::string ATakeOverIsCutShort() {
    GivenADisabledTable();
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 1'000'000;
    const auto enabled = Enable("t");
    if (!cluster_.RunUntil([&] { return Regions("t")[0].failed_opens > 4; })) return "nothing was refused";
    DelayTheNextRow(Millis(100));
    (void)Disable("t");
    if (!BypassWhenTheRowWasSent("DisableTable")) return "it was not bypassed";
    (void)cluster_.RunFor(Millis(1'000));
    if (cluster_.meta().tables().at(T()).state != TableState::kDisabling) return "it never arrived";
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 0;
    if (!cluster_.RunUntil([&] { return Outcome(enabled) != "unfinished"; }))
      return "not at rest: " + master().Unfinished();
    if (!master().executor().GetResult(*enabled).result.starts_with(kTakenOver)) return "it was not taken over";
    LookAfter(6);
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    if (IsBetween(cluster_.meta().tables().at(T()).state)) return "the table is between two states";
    return cluster_.CheckSettled();
  }

  // A CreateTable is bypassed while its table's row is on its way, and the comparison finds the rows of its regions.
  std::string ACreationArrivesLate() {
    cluster_.Boot(2);
    GivenTable("u", 1);
    DelayTheNextRow(Millis(6'000));
    (void)Create("t", 4);
    if (!BypassWhenTheRowWasSent("CreateTable")) return "it was not bypassed";
    LookAfter(4);
    if (cluster_.meta().tables().contains(T())) return "it arrived too early";
    (void)cluster_.RunFor(Millis(4'000));
    if (!cluster_.meta().tables().contains(T())) return "it never arrived";
    LookAfter(6);
    return End(5);
  }
  // Another table of the name is requested meanwhile, as `make` asks for it, and deleted as soon as it exists.
  std::string AnotherIsMadeDuringACreation(const std::function<Result<ProcId>()>& make) {
    DelayTheNextRow(Millis(20'000));
    (void)Create("t", 4);
    if (!BypassWhenTheRowWasSent("CreateTable")) return "it was not bypassed";
    const auto again = make();
    (void)cluster_.RunFor(Millis(2'000));
    const std::string shown = master().Unfinished();
    if (!cluster_.Settle() || Outcome(again) != "success") return "the next one: " + Outcome(again);
    (void)Disable("t");
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    const auto deleted = Delete("t");
    if (!cluster_.Settle() || Outcome(deleted) != "success") return "its deletion: " + Outcome(deleted);
    (void)cluster_.RunFor(Millis(20'000));
    LookAfter(6);
    if (cluster_.meta().tables().contains(T())) return "the first table is back";
    if (shown.find("waits until it is known whether hbase:meta gets another table t") == std::string::npos)
      return "nobody learns why it waits: " + shown;
    if (const auto left = cluster_.meta().regions().size(); left != 1) return "regions: " + std::to_string(left);
    return cluster_.CheckSettled();
  }
  std::string ATableIsCreatedDuringACreation() {
    cluster_.Boot(2);
    GivenTable("u", 1);
    return AnotherIsMadeDuringACreation([&] { return Create("t", 2); });
  }
  std::string ASnapshotIsClonedDuringACreation() {
    cluster_.Boot(2);
    GivenTable("u", 1);
    SnapshotAdmin& snapshots = master().logic().snapshot_admin;
    hbase::pb::SnapshotDescription description;
    description.set_name("s");
    description.set_table("u");
    const auto taken = master().Ask([&](Done done) { snapshots.TakeSnapshot(description, {"me", {}}, done); });
    if (!cluster_.Settle() || Outcome(taken) != "success") return "the snapshot: " + Outcome(taken);
    return AnotherIsMadeDuringACreation([&] {
      return master().Ask([&](Done done) { snapshots.PutBack("s", T(), {"me", {}}, done); });
    });
  }

  std::string SplittingIsBypassed() {
    cluster_.Boot(3);
    GivenTable("t", 6);
    cluster_.Kill(OtherThan(MetaHost()));
    for (int i = 0; i < 6; ++i) {
      if (!cluster_.RunUntil([&] { return Only("SplitWalRemote").valid(); }))
        return i == 0 ? "nothing is split" : "splitting has stopped";
      BypassWith(Only("ServerCrash"));
      LookAfter(1);
    }
    return End(6);
  }

  std::string AnEarlierMasterWrites() {
    cluster_.Boot(2);
    GivenTable("t", 1);
    sim::SimMaster& earlier = master();
    RegionRow row = cluster_.meta().regions().at(Encoded("t"));
    cluster_.StartMaster({}, /*keep_old=*/true);
    if (!cluster_.RunUntil([&] { return master().ready(); })) return "not ready";
    MetaEdit edit;
    edit.region = row;
    edit.region.transition += 7;
    bool answered = false;
    earlier.logic().env.meta.Write({edit}, [&](const Status&) { answered = true; });
    (void)cluster_.RunUntil([&] { return answered; });
    return cluster_.meta().regions().at(Encoded("t")).transition == row.transition ? "" : "it was written";
  }

  // The server dies, and its crash procedure looks at its regions, in the middle of the step that ends the opening
  // there, or that finds the region open there already.
  std::string ATransitionMeetsACrash(bool open_already) {
    cluster_.Boot(3);
    GivenTable("t", 1);
    const std::string encoded = Encoded("t");
    sim::SimServer* third = nullptr;
    for (sim::SimServer* server : cluster_.Alive()) {
      if (server != &HostOf(encoded) && server != &MetaHost()) third = server;
    }
    sim::SimServer& target = *third;
    bool met = false;
    if (open_already) (void)Move(encoded, target.name());
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    cluster_.on_point = [&](sim::SimMaster& at) {
      const RegionRow& row = cluster_.meta().regions().at(encoded);
      const auto node = at.logic().regions.Get(encoded);
      if (met || row.state != RegionState::kOpen || row.location != target.name() || !node->owner.valid()) return;
      if (node->state != RegionState::kOpen) return;  // shown, but not given up yet
      met = true;
      target.Write(encoded);  // so its log names the region, which then waits for the split
      cluster_.Kill(target);
      at.logic().server_manager.Expire(target.name(), "dies in the middle of a step");
      (void)cluster_.RunUntil([&] { return at.logic().servers.PhaseOf(target.name()) != ServerPhase::kCrashed; });
    };
    (void)(open_already ? Assign(encoded) : Move(encoded, target.name()));
    (void)cluster_.RunUntil([&] { return met; });
    cluster_.on_point = nullptr;
    return met ? End(1) : "that never happened";
  }

  std::string AMasterDiesDuringASplit() {
    cluster_.Boot(3);
    GivenTable("t", 6);
    cluster_.Kill(OtherThan(MetaHost()));
    if (!cluster_.RunUntil([&] { return Only("SplitWalRemote").valid(); })) return "that never happened";
    cluster_.StartMaster();
    if (master().logic().env.split_workers.Holders() != std::vector{Only("SplitWal")}) return "its place is free";
    return End(6);
  }

  bool row_was_sent_ = false;
};

TEST_F(BypassTest, InterruptedWriteIsFollowedByHigherNumbers) { EXPECT_EQ(AWriteIsCutShort(), ""); }
TEST_F(BypassTest, CreationInterruptedBeforeMetaLeavesNothing) { EXPECT_EQ(ACreationIsCutShortBeforeMeta(), ""); }
TEST_F(BypassTest, CreationInterruptedInMetaLeavesNothing) { EXPECT_EQ(ACreationIsCutShortInMeta(), ""); }
TEST_F(BypassTest, SplittingSurvivesManyBypasses) { EXPECT_EQ(SplittingIsBypassed(), ""); }
TEST_F(BypassTest, DeposedMasterWritesNothingAfterTheLoad) { EXPECT_EQ(AnEarlierMasterWrites(), ""); }
TEST_F(BypassTest, TransitionHandlesTheCrashOfItsServer) {
  EXPECT_EQ(ATransitionMeetsACrash(/*open_already=*/false), "");
}
TEST_F(BypassTest, IdleAssignHandlesTheCrashOfItsServer) {
  EXPECT_EQ(ATransitionMeetsACrash(/*open_already=*/true), "");
}
TEST_F(BypassTest, ASplitHasItsPlaceAfterAFailover) { EXPECT_EQ(AMasterDiesDuringASplit(), ""); }

// The region was closed for a move, and no server can open it. So it is not closed on purpose.
TEST_F(BypassTest, AMoveThatWaitsForAServerIsOpenedAgain) {
  cluster_.Boot(1);
  GivenTable("t", 1);
  sim::SimServer& server = *cluster_.Alive().front();
  master().logic().servers.SetDraining(server.name(), true);
  (void)Move(Encoded("t"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !server.IsOpen(Encoded("t")) && !Regions("t")[0].location.has_value(); }));
  BypassWith(Only("TransitRegionState"));
  master().logic().servers.SetDraining(server.name(), false);
  LookAfter(3);
  EXPECT_EQ(End(1), "");
}

// All work waits for hbase:meta, and the procedure that would open it was bypassed. The master opens it again, and so
// does the next master, although its record says that it is open.
TEST_F(BypassTest, UnassignedMetaIsOpened) {
  for (const bool failover : {false, true}) {
    sim::SimServer* server = failover ? cluster_.Alive().front() : nullptr;
    if (server == nullptr) {
      cluster_.Boot(1);
      GivenTable("t", 1);
      server = cluster_.Alive().front();
    }
    master().logic().servers.SetDraining(server->name(), true);
    (void)Move(std::string(kMetaEncodedName));
    ASSERT_TRUE(cluster_.RunUntil([&] { return !server->IsOpen(std::string(kMetaEncodedName)); }));
    ASSERT_TRUE(cluster_.RunFor(Millis(100)));
    BypassWith(Only("TransitRegionState"));
    ASSERT_TRUE(cluster_.RunFor(Millis(100)));
    master().logic().servers.SetDraining(server->name(), false);
    if (failover) cluster_.StartMaster();
    LookAfter(4);
    EXPECT_TRUE(master().ready());
    EXPECT_EQ(End(1), "") << failover;
  }
}

// An operator ended the request that had opened the region half-way; it is closed, as the state of the table requires.
TEST_F(BypassTest, ARegionOfADisabledTableIsClosed) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  (void)Disable("t");
  ExpectSettled();
  master().logic().regions.Update(Encoded("t"), [](RegionNode& node) { node.state = RegionState::kOpening; });
  LookAfter(4);
  ExpectSettled();
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
}

// Before hbase:meta is loaded: its server's crash procedure is ended, and no other procedure would ever open it.
TEST_F(BypassTest, ACrashProcedureIsMissedBeforeMetaIsLoaded) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  cluster_.Kill(MetaHost());
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return Only("ServerCrash").valid(); }));
  ASSERT_FALSE(master().ready());
  BypassWith(Only("ServerCrash"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !Only("ServerCrash").valid(); }));
  ASSERT_FALSE(master().ready());
  LookAfter(4);
  EXPECT_TRUE(master().ready());
  EXPECT_EQ(End(3), "");
}

// If its region is open, the server closes it first.
TEST_F(BypassTest, ARegionWithoutARowIsClosedFirst) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  EXPECT_EQ(ARowIsGone(), "");
}

TEST_F(BypassTest, ATransitionWithoutARowEnds) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  (void)Disable("t");
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_EQ(ARowIsGone(), "");
}

TEST_F(BypassTest, ATransitionWithoutATableEnds) { EXPECT_EQ(ATableIsGone(), ""); }

TEST_F(BypassTest, AStateChangeBringsNoDeletedTableBack) { EXPECT_EQ(AStateChangeArrivesAfterADeletion(), ""); }
TEST_F(BypassTest, EnablingATableWithoutARowFails) { EXPECT_EQ(ATableWithoutARowIsEnabled(), ""); }
TEST_F(BypassTest, ATakeOverThatIsBypassedEndsTheEarlierProcedure) { EXPECT_EQ(ATakeOverIsCutShort(), ""); }
TEST_F(BypassTest, ACreationThatArrivesLateIsWhole) { EXPECT_EQ(ACreationArrivesLate(), ""); }
TEST_F(BypassTest, ACreationWaitsForAnotherThatIsOnItsWay) { EXPECT_EQ(ATableIsCreatedDuringACreation(), ""); }
TEST_F(BypassTest, ACloneWaitsForACreationThatIsOnItsWay) { EXPECT_EQ(ASnapshotIsClonedDuringACreation(), ""); }

// The procedure can no longer fail when it finds that the row is gone.
TEST_F(BypassTest, DisablingATableThatLosesItsRowEnds) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  GivenTable("u", 1);
  const auto disabled = Disable("t");
  ASSERT_TRUE(disabled.ok());
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("TransitRegionState").empty(); }));
  cluster_.meta().mutable_tables().erase(T());
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_TRUE(master().executor().GetResult(*disabled).result.starts_with(kTakenOver));
  EXPECT_FALSE(cluster_.meta().tables().contains(T()));
}

TEST_F(BypassTest, UndoOfAStateChangeNeedsNoRow) {
  GivenADisabledTable();
  DelayTheNextRow(Millis(1'000));
  const auto enabled = Enable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return row_was_sent_; }));
  cluster_.meta().mutable_tables().erase(T());
  master().executor().Abort(*enabled, {"op", "no"}, [](const Status&) {});
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_NE(Outcome(enabled), "success");
  EXPECT_FALSE(cluster_.meta().tables().contains(T()));
  EXPECT_FALSE(master().logic().tables.Exists(T()));
}

#if defined(RATCHET_MUTANTS)
TEST_F(BypassTest, CreatingByAStateChangeIsNoticed) {
  ExpectKilled(
      "master.create_by_update", [&] { return AStateChangeArrivesAfterADeletion(); }, "the row is back");
}
TEST_F(BypassTest, RetryingBelowANewerRowIsNoticed) {
  ExpectKilled(
      "master.retry_below_newer", [&] { return ATakeOverIsCutShort(); },
      "STALE: writing hbase:meta: table row is newer");
}
TEST_F(BypassTest, ForgettingCreationsIsNoticed) {
  ExpectKilled(
      "master.forget_creations", [&] { return ACreationArrivesLate(); }, "table t has no region");
}
TEST_F(BypassTest, RemovingRowsOfANewTableIsNoticed) {
  ExpectKilled(
      "reconciler.rows_of_the_new", [&] { return ACreationArrivesLate(); }, "table t has no region");
}
TEST_F(BypassTest, CreatingBesideACreationIsNoticed) {
  ExpectKilled(
      "master.create_beside_creation", [&] { return ATableIsCreatedDuringACreation(); }, "the first table is back");
}
TEST_F(BypassTest, CloningBesideACreationIsNoticed) {
  ExpectKilled(
      "master.create_beside_creation", [&] { return ASnapshotIsClonedDuringACreation(); }, "the first table is back");
}
TEST_F(BypassTest, WaitingForATableThatIsGoneIsNoticed) {
  ExpectKilled(
      "master.wait_for_the_table", [&] { return ATableIsGone(); }, "NOT_FOUND: table t does not exist");
}
TEST_F(BypassTest, WaitingForARowThatIsGoneIsNoticed) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  ExpectKilled(
      "master.wait_for_the_row", [&] { return ARowIsGone(); }, "writing hbase:meta: no row for");
}
TEST_F(BypassTest, BypassedMoveKeepsItsTransitionNumber) {
  ExpectKilled(
      "master.forget_reserved", [&] { return AWriteIsCutShort(); }, "STALE: writing hbase:meta: region row is newer");
}
TEST_F(BypassTest, RowsOfAnotherTableAreNoticed) {
  ExpectKilled(
      "reconciler.any_incarnation", [&] { return ACreationIsCutShortInMeta(); }, "begins where another one does");
}
TEST_F(BypassTest, DirectoriesThatAreLeftAreNoticed) {
  ExpectKilled(
      "reconciler.leave_directories", [&] { return ACreationIsCutShortBeforeMeta(); }, "directories: 3");
}
TEST_F(BypassTest, LeakedQuotaClaimsAreNoticed) {
  ExpectKilled(
      "master.leak_split_places", [&] { return SplittingIsBypassed(); }, "splitting has stopped");
}
TEST_F(BypassTest, ReadingBeforeRaisingIsNoticed) {
  ExpectKilled(
      "master.read_before_raising", [&] { return AnEarlierMasterWrites(); }, "it was written");
}
TEST_F(BypassTest, NoSecondLookIsNoticed) {
  ExpectKilled(
      "master.no_second_look", [&] { return ATransitionMeetsACrash(/*open_already=*/false); }, "is at 0 servers");
}
TEST_F(BypassTest, NoSecondLookAtWhatIsOpenAlreadyIsNoticed) {
  ExpectKilled(
      "master.no_second_look", [&] { return ATransitionMeetsACrash(/*open_already=*/true); }, "is at 0 servers");
}
TEST_F(BypassTest, ForgottenQuotaClaimsAreNoticed) {
  ExpectKilled(
      "master.forget_split_places", [&] { return AMasterDiesDuringASplit(); }, "its place is free");
}
#endif

}  // namespace
}  // namespace ratchet::master
