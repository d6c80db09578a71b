// Differences between meta, memory and servers are found, repaired and reported; transitions in progress are left
// alone.
#include <functional>

#include "common/base/part_lock.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class ReconcilerTest : public MasterTest {
 protected:
  Reconciler& reconciler() { return master().logic().reconciler; }
  void Beat(sim::SimServer& server) {
    std::vector<OnlineRegion> online;
    for (const auto& [encoded, region] : server.regions()) online.push_back({encoded, region.open_number});
    reconciler().OnHeartbeat(server.name(), online);
  }
  void GraceEnds() { ASSERT_TRUE(cluster_.RunFor(cluster_.master_options.reconciler.grace + Millis(100))); }
  // An inconsistency is acted upon when it is found twice.
  void CompareTwice() {
    for (int i = 0; i < 2; ++i) {
      GraceEnds();
      std::optional<Status> looked;
      reconciler().CompareWithMeta([&](Status status) { looked = std::move(status); });
      ASSERT_TRUE(cluster_.RunUntil([&] { return looked.has_value(); }));
      ASSERT_TRUE(looked->ok()) << looked->error().ToString();
      if (i > 0) continue;
      EXPECT_EQ(reconciler().Findings().size(), 0U) << "acted upon at the first look";
    }
    ASSERT_TRUE(cluster_.RunFor(Millis(50)));
  }
  void ExpectFinding(const std::string& encoded, const std::string& what) {
    for (const ReconcilerFinding& finding : reconciler().Findings()) {
      if (finding.encoded == encoded && finding.what.find(what) != std::string::npos) return;
    }
    ADD_FAILURE() << "nothing was reported about " << encoded << ": " << what;
  }
  // A row, and the directory of its region.
  void PlantRegion(RegionRow row) {
    row.issued = row.served = row.flushed = 0;  // its directory has never been open
    cluster_.meta().mutable_regions()[row.region.encoded_name()] = row;
    cluster_.storage()
        .tables.at(cluster_.meta().tables().at(row.region.table).directory)
        .regions.insert(row.region.encoded_name());
  }
  std::string CallUnderALock();
  RegionRow& Row(const std::string& encoded) { return cluster_.meta().mutable_regions().at(encoded); }
};

TEST_F(ReconcilerTest, ConsistentClusterIsNotChanged) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  GraceEnds();
  for (sim::SimServer* server : cluster_.Alive()) Beat(*server);
  CompareTwice();
  reconciler().Sweep();
  EXPECT_TRUE(reconciler().Findings().empty());
  ExpectSettled();
}

// The grace is a setting (region-state-grace-ms): a heartbeat contradicts only a state that has not changed for this
// long.
TEST_F(ReconcilerTest, RecentStateIsNotContradicted) {
  cluster_.master_options.reconciler.grace = Millis(20'000);
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  const auto beats_without_it = [&] {
    for (int i = 0; i < 4; ++i) reconciler().OnHeartbeat(HostOf(encoded).name(), std::vector<OnlineRegion>{});
    return reconciler().Findings().size();
  };
  ASSERT_TRUE(cluster_.RunFor(Millis(5'000)));
  EXPECT_EQ(beats_without_it(), 0U);
  GraceEnds();
  EXPECT_GT(beats_without_it(), 0U);
}

// Both servers list the region for seconds while it moves: the one that closes it, the one that has opened it.
TEST_F(ReconcilerTest, HeartbeatsThatListARegionDuringItsTransitionAreNoContradiction) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  sim::SimServer& source = HostOf(encoded);
  sim::SimServer& target = OtherThan(source);
  source.order_time = Millis(20'000);
  target.hold_reports = 100;
  (void)Move(encoded, target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].state == RegionState::kClosing; }));
  ASSERT_TRUE(source.IsOpen(encoded));
  for (int i = 0; i < 5; ++i) {
    GraceEnds();
    Beat(source);
    Beat(target);
  }
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(encoded); }));
  for (int i = 0; i < 5; ++i) {
    GraceEnds();
    Beat(source);
    Beat(target);
  }
  EXPECT_EQ(Regions("t")[0].state, RegionState::kOpening);
  EXPECT_TRUE(reconciler().Findings().empty());
  target.hold_reports = 0;
  target.ReleaseReports();
  source.order_time = Millis(2);
  ExpectSettled();
  EXPECT_EQ(cluster_.Alive().size(), 2U);
}

TEST_F(ReconcilerTest, ServerThatKeepsServingAMovedRegionIsExpired) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& liar = OtherThan(MetaHost());
  std::string elsewhere;
  for (const RegionNode& node : Regions("t")) {
    if (node.location != liar.name()) elsewhere = node.info.encoded_name();
  }
  GraceEnds();
  const int strikes = static_cast<int>(cluster_.master_options.reconciler.strikes);
  for (int i = 1; i <= strikes; ++i) {
    EXPECT_TRUE(master().logic().servers.IsOnline(liar.name()));
    std::vector<OnlineRegion> online{{elsewhere, 0}};
    for (const auto& [encoded, region] : liar.regions()) online.push_back({encoded, region.open_number});
    reconciler().OnHeartbeat(liar.name(), online);
  }
  EXPECT_FALSE(master().logic().servers.IsOnline(liar.name()));
  ExpectFinding(elsewhere, "reports it as open");
  liar.Exit("fenced");
  ExpectSettled();
}

// A server reports an open region that it cannot have. Each heartbeat repeats this, and in the end the server is
// expired.
TEST_F(ReconcilerTest, ServerThatServesAnUnassignedRegionIsExpired) {
  struct Case {
    const char* name;
    const char* finding;
    std::function<OnlineRegion(const std::string& encoded)> says;
  };
  const std::vector<Case> cases = {
      {"unknown-region", "the region is unknown",
       [](const std::string&) {
         return OnlineRegion{"0123456789abcdef", 5};
       }},
      {"older-opening", "is current, not",
       [&](const std::string& encoded) {
         return OnlineRegion{encoded, master().logic().regions.Get(encoded)->open_number.value() - 1};
       }},
      {"closed-region", "the region is CLOSED", [&](const std::string& encoded) {
         (void)Unassign(encoded);
         EXPECT_TRUE(cluster_.Settle());
         return OnlineRegion{encoded, Regions("t")[0].open_number.value()};
       }}};
  cluster_.Boot(2);
  GivenTable("t", 1);
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    const std::string encoded = Encoded("t");
    sim::SimServer& liar = HostOf(encoded);
    ASSERT_TRUE(cluster_.RunUntil(
        [fresh = &cluster_.AddServer(std::string("beside-") + each.name)] { return fresh->registered; }));
    const OnlineRegion lie = each.says(encoded);
    GraceEnds();
    std::vector<OnlineRegion> online{lie};
    for (const auto& [name, region] : liar.regions()) {
      if (name != lie.encoded) online.push_back({name, region.open_number});
    }
    const int strikes = static_cast<int>(cluster_.master_options.reconciler.strikes);
    for (int i = 1; i <= strikes; ++i) {
      EXPECT_TRUE(master().logic().servers.IsOnline(liar.name())) << "expired at heartbeat " << i;
      reconciler().OnHeartbeat(liar.name(), online);
    }
    EXPECT_FALSE(master().logic().servers.IsOnline(liar.name()));
    ExpectFinding(lie.encoded, each.finding);
    liar.Exit("fenced");
    if (Regions("t")[0].state == RegionState::kClosed) {
      ASSERT_TRUE(cluster_.Settle());
      (void)Assign(encoded);
    }
    ExpectServed("t", 1);
  }
}

TEST_F(ReconcilerTest, ARegionThatItsServerLostIsOpenedAgain) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  sim::SimServer& host = HostOf(encoded);
  GraceEnds();
  reconciler().OnHeartbeat(host.name(), RegionList{});
  ExpectFinding(encoded, "opened again");
  ExpectSettled();
  EXPECT_EQ(Regions("t")[0].state, RegionState::kOpen);
}

TEST_F(ReconcilerTest, RegionWithoutAProcedureIsAssigned) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  (void)Unassign(encoded);
  ASSERT_TRUE(cluster_.Settle());
  master().logic().regions.Update(encoded, [](RegionNode& node) { node.state = RegionState::kOpening; });
  GraceEnds();
  reconciler().Sweep();
  ExpectFinding(encoded, "no procedure owned it");
  ExpectSettled();
  EXPECT_EQ(Regions("t")[0].state, RegionState::kOpen);
}

// Regions that are closed on purpose stay closed, and so do a disabled table's regions.
TEST_F(ReconcilerTest, IntentionallyClosedRegionIsLeftAlone) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  GivenTable("u", 2);
  (void)Unassign(Encoded("t"));
  (void)Disable("u");
  ExpectSettled();
  GraceEnds();
  reconciler().Sweep();
  EXPECT_TRUE(reconciler().Findings().empty());
  EXPECT_TRUE(master().AllFinished());
}

// The region's row names a server that has left no trace, not even a record of its crash.
TEST_F(ReconcilerTest, UnknownServerIsTreatedAsDead) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  cluster_.any_ranges = true;
  RegionRow row = Row(Encoded("t"));
  row.region.start_key = "m";
  row.location = ServerName{"ghost", 1, 1};
  const std::string encoded = row.region.encoded_name();
  PlantRegion(row);
  CompareTwice();
  ASSERT_EQ(master().logic().regions.Get(encoded)->location, row.location);
  GraceEnds();
  reconciler().Sweep();
  ExpectFinding(encoded, "the master does not know the server");
  ExpectSettled();
  sim::SimServer* host = cluster_.Find(master().logic().regions.Get(encoded)->location.value_or(ServerName{}));
  ASSERT_NE(host, nullptr);
  EXPECT_TRUE(host->IsOpen(encoded));
}

// A row that memory does not know: its region is opened at the server that the row names.
TEST_F(ReconcilerTest, UnknownRowIsAddedToMemory) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  cluster_.any_ranges = true;
  RegionRow row = Row(Encoded("t"));
  row.region.start_key = "m";
  row.open_sequence = 0;
  const std::string encoded = row.region.encoded_name();
  sim::SimServer& host = *cluster_.Find(*row.location);
  PlantRegion(row);
  CompareTwice();
  ExpectFinding(encoded, "added to memory");
  ASSERT_TRUE(master().logic().regions.Get(encoded).has_value());
  GraceEnds();
  Beat(host);
  ExpectFinding(encoded, "opened again");
  ExpectSettled();
  EXPECT_TRUE(HostOf(encoded).IsOpen(encoded));
}

// Findings that an administrator has to decide are only reported.
TEST_F(ReconcilerTest, AbandonedTableTransitionIsFinished) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const TableName name("default", "t");
  auto table = *master().logic().tables.Get(name);
  table.state = TableState::kEnabling;
  master().logic().tables.Put(table);
  cluster_.meta().mutable_tables().at(name).state = TableState::kEnabling;
  reconciler().Sweep();
  ExpectFinding("", "table t was ENABLING under pid=");
  reconciler().Sweep();  // once is enough
  EXPECT_EQ(reconciler().Findings().size(), 1U);
  ExpectSettled();
  EXPECT_EQ(cluster_.meta().tables().at(name).state, TableState::kEnabled);
}

TEST_F(ReconcilerTest, AnOrphanRowIsRemoved) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  RegionRow orphan = Row(Encoded("t"));
  orphan.region.table = TableName("default", "gone");
  orphan.state = RegionState::kClosed;
  const std::string encoded = orphan.region.encoded_name();
  cluster_.meta().mutable_regions()[encoded] = orphan;
  CompareTwice();
  ExpectFinding(encoded, "row removed");
  EXPECT_FALSE(cluster_.meta().regions().contains(encoded));
  ExpectSettled();
}

TEST_F(ReconcilerTest, ALostRowIsWrittenAgain) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  const RegionRow lost = Row(encoded);
  cluster_.meta().mutable_regions().erase(encoded);
  CompareTwice();
  ExpectFinding(encoded, "written again");
  ASSERT_TRUE(cluster_.meta().regions().contains(encoded));
  EXPECT_EQ(Row(encoded).location, lost.location);
  ExpectSettled();
}

TEST_F(ReconcilerTest, ContradictingRowIsRewritten) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  const ServerName right = *Row(encoded).location;
  Row(encoded).location = OtherThan(HostOf(encoded)).name();
  CompareTwice();
  ExpectFinding(encoded, "row rewritten");
  EXPECT_EQ(Row(encoded).location, right);
  ExpectSettled();
}

TEST_F(ReconcilerTest, RowOfANewerMasterIsReportedAndKept) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  Row(encoded).transition += 5;
  CompareTwice();
  ExpectFinding(encoded, "not changed");
  EXPECT_EQ(Row(encoded).transition, Regions("t")[0].transition + 5);
}

// An operator that looks once sees the pending actions, and with the second look the completed ones.
TEST_F(ReconcilerTest, InconsistencyIsShownUntilItIsRepaired) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  Row(encoded).state = RegionState::kClosed;
  GraceEnds();
  for (const bool acted : {false, true}) {
    std::optional<Status> looked;
    reconciler().CompareWithMeta([&](Status status) { looked = std::move(status); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return looked.has_value(); }));
    ASSERT_TRUE(looked->ok()) << looked->error().ToString();
    EXPECT_EQ(reconciler().Inconsistencies().count(encoded), acted ? 0U : 1U);
    EXPECT_EQ(reconciler().Findings().size(), acted ? 1U : 0U);
  }
  ASSERT_TRUE(cluster_.RunFor(Millis(50)));
  ExpectSettled();
}

// Tables are made and dropped, and regions move, while comparisons run all the time.
TEST_F(ReconcilerTest, WorkInProgressIsNoDisagreement) {
  cluster_.Boot(3);
  for (int round = 0; round < 4; ++round) {
    const auto created = Create("t", 4);
    for (int i = 0; i < 40; ++i) {
      reconciler().CompareWithMeta([](const Status&) {});
      ASSERT_TRUE(cluster_.RunFor(Millis(2)));
    }
    ExpectSettled();
    ASSERT_EQ(Outcome(created), "success");
    (void)Move(Encoded("t"));
    (void)Disable("t");
    for (int i = 0; i < 40; ++i) {
      reconciler().CompareWithMeta([](const Status&) {});
      ASSERT_TRUE(cluster_.RunFor(Millis(2)));
    }
    ExpectSettled();
    const auto deleted = Delete("t");
    for (int i = 0; i < 20; ++i) {
      reconciler().CompareWithMeta([](const Status&) {});
      ASSERT_TRUE(cluster_.RunFor(Millis(2)));
    }
    ExpectSettled();
    ASSERT_EQ(Outcome(deleted), "success");
  }
  EXPECT_TRUE(reconciler().Findings().empty());
}

#if defined(RATCHET_MUTANTS)
// Returns the first call of another part that the reconciler, or a part of it, makes under its lock: heartbeats, sweeps
// with repairs, comparisons and surveys.
std::string ReconcilerTest::CallUnderALock() {
  const RecordedPartLocks recorded;
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  (void)Unassign(encoded);
  EXPECT_TRUE(cluster_.Settle());
  master().logic().regions.Update(encoded, [](RegionNode& node) { node.state = RegionState::kOpening; });
  GraceEnds();
  for (sim::SimServer* server : cluster_.Alive()) Beat(*server);
  reconciler().Sweep();
  ExpectFinding(encoded, "no procedure owned it");
  reconciler().Sweep();  // while the repair runs
  ExpectSettled();
  reconciler().Sweep();  // the repair has ended
  reconciler().Survey();
  std::optional<Status> looked;
  reconciler().CompareWithMeta([&](Status status) { looked = std::move(status); });
  EXPECT_TRUE(cluster_.RunUntil([&] { return looked.has_value(); }));
  (void)reconciler().RemoveGarbageNow();
  (void)reconciler().Problems();
  return recorded.violations().empty() ? "" : recorded.violations().front();
}

TEST_F(ReconcilerTest, NoLockIsHeldWhileAnotherPartIsCalled) { EXPECT_EQ(CallUnderALock(), ""); }

TEST_F(ReconcilerTest, ACallUnderItsLockIsNoticed) {
  ExpectKilled(
      "reconciler.ask_under_lock", [this] { return CallUnderALock(); },
      "the executor is entered while the lock of repair_runner.cc");
}
#endif

}  // namespace
}  // namespace ratchet::master
