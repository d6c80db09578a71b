// S69 (lock-grant order decides), S70 (take over a table in transition): procedures are judged by the order in which
// they get their locks, not by the order of their requests. A table that is between two states can be disabled and
// dropped.
#include <map>

#include "common/base/mutant.h"
#include "master/procedures/table/table_steps.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

using procedure::PauseScope;

class LockGrantTest : public MasterTest {
 protected:
  static const TableName& T() {
    static const TableName name("default", "t");
    return name;
  }
  void Pause(const PauseScope& scope) {
    bool paused = false;
    master().executor().Pause(scope, {"op", "test"}, Millis(0), [&](const auto& report) { paused = report.ok(); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return paused; }));
  }
  void Resume(const PauseScope& scope) {
    bool resumed = false;
    master().executor().Resume(scope, {"op", "test"}, [&](const Status& status) { resumed = status.ok(); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return resumed; }));
  }
  // Submits the request now, and runs other work until the procedure has ended.
  void Done(const Result<ProcId>& pid) {
    ASSERT_TRUE(pid.ok()) << pid.error().ToString();
    ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(*pid).finished(); }))
        << master().Unfinished();
    EXPECT_EQ(Outcome(pid), "success");
  }
  std::string ResultOf(const Result<ProcId>& pid) { return master().executor().GetResult(*pid).result; }

  // A drop waits for its lock while its table is enabled, written to and disabled. Empty: correct.
  std::string ADropIsLate() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    Done(Disable("t"));
    Pause(PauseScope::Type("DeleteTable"));
    const auto drop = Delete("t");
    Done(Enable("t"));
    cluster_.WriteEverywhere();
    Done(Disable("t"));
    Resume(PauseScope::Type("DeleteTable"));
    if (!cluster_.Settle(Millis(20'000))) return "not at rest:\n" + master().Unfinished();
    if (Outcome(drop) != "success") return Outcome(drop);
    if (!cluster_.meta().tables().empty() || !cluster_.meta().regions().empty()) return "rows are left";
    if (cluster_.storage().tables.size() != 1) return "files are left";
    return cluster_.CheckSettled();
  }

  // Registration waits for the end of a pause.
  sim::SimServer& AServerStartsInAPause() {
    cluster_.Boot(2);
    Pause(PauseScope::Everything());
    sim::SimServer& fresh = cluster_.AddServer("fresh");
    EXPECT_TRUE(cluster_.RunFor(Millis(5'000)));
    return fresh;
  }
  std::size_t Crashes() {
    std::size_t crashes = 0;
    for (const procedure::ProcedureInfo& info : master().executor().List())
      crashes += info.type == "ServerCrash" ? 1 : 0;
    return crashes;
  }
  // Three incarnations at one address, each of which ends while its registration waits, and one that stays.
  std::size_t ServersComeAndGoInAPause() {
    cluster_.Boot(2);
    Pause(PauseScope::Everything());
    for (int life = 0; life < 3; ++life) {
      sim::SimServer& passing = cluster_.AddServer("fresh");
      EXPECT_TRUE(cluster_.RunFor(Millis(100)));
      cluster_.Kill(passing);
      EXPECT_TRUE(cluster_.RunFor(cluster_.options().session + Millis(100)));
    }
    sim::SimServer& stays = cluster_.AddServer("fresh");
    EXPECT_TRUE(cluster_.RunFor(Millis(100)));
    Resume(PauseScope::Everything());
    EXPECT_TRUE(cluster_.RunUntil([&] { return stays.registered || !stays.alive(); }));
    EXPECT_TRUE(cluster_.RunFor(Millis(1'000)));
    EXPECT_TRUE(stays.alive());
    EXPECT_TRUE(master().logic().servers.IsOnline(stays.name()));
    return Crashes();
  }

  // A child of DisableTable is parked; another request takes the table over, disables and enables it. Then the child
  // continues. Returns an empty string if the table is served.
  std::string APartOfADisablingIsLate() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    Pause(PauseScope::Type("TransitRegionState"));
    (void)Disable("t");
    const auto parts = [this] { return master().executor().FindUnfinished("TransitRegionState"); };
    if (!cluster_.RunUntil([&] { return parts().size() == 2; })) return "no parts";
    const ProcId late = parts().front();
    master().executor().Park(late, {"op", "to look"}, [](const Status&) {});
    (void)cluster_.RunFor(Millis(100));
    Resume(PauseScope::Type("TransitRegionState"));
    if (const auto again = Disable("t"); !cluster_.RunUntil([&] { return Outcome(again) == "success"; }))
      return Outcome(again);
    if (const auto enabled = Enable("t"); !cluster_.RunUntil([&] { return Outcome(enabled) == "success"; }))
      return Outcome(enabled);
    master().executor().Unpark(late, {"op", "seen"}, [](const Status&) {});
    if (!cluster_.Settle()) return "not at rest:\n" + master().Unfinished();
    for (const RegionNode& node : Regions("t")) {
      if (node.state != RegionState::kOpen) return "a region is " + std::string(RegionStateText(node.state));
    }
    return cluster_.CheckSettled();
  }

  void NoRegionCanBeOpened(bool none) {
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = none ? 1'000'000 : 0;
  }
  // A table whose creation cannot be finished.
  Result<ProcId> ACreationHangs() {
    cluster_.Boot(2);
    NoRegionCanBeOpened(true);
    auto created = Create("t", 2);
    EXPECT_TRUE(cluster_.RunUntil([&] { return Regions("t").size() == 2 && Regions("t")[0].failed_opens > 4; }));
    EXPECT_EQ(cluster_.meta().tables().at(T()).state, TableState::kEnabling);
    return created;
  }
  // The table is disabled, enabled again and served, although its creation did not end. Empty: correct.
  std::string ACreationThatHangsIsTakenOver() {
    const auto created = ACreationHangs();
    const auto disabled = Disable("t");
    if (!cluster_.Settle(Millis(20'000))) return "not at rest:\n" + master().Unfinished();
    if (Outcome(disabled) != "success") return Outcome(disabled);
    if (cluster_.meta().tables().at(T()).state != TableState::kDisabled) return "it is not DISABLED";
    if (!ResultOf(created).starts_with(kTakenOver)) return "the creation does not report that it was taken over";
    return cluster_.CheckSettled();
  }
};

TEST_F(LockGrantTest, LateStepOfADisableClosesNothing) { EXPECT_EQ(APartOfADisablingIsLate(), ""); }

TEST_F(LockGrantTest, LateDropRemovesTheCurrentTable) {
  EXPECT_EQ(ADropIsLate(), "");
  GivenTable("t", 2);
  ExpectServed("t", 2);
}

TEST_F(LockGrantTest, ALateDropOfAnEnabledTableFailsAndDestroysNothing) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  Done(Disable("t"));
  Pause(PauseScope::Type("DeleteTable"));
  const auto drop = Delete("t");
  Done(Enable("t"));
  cluster_.WriteEverywhere();
  Resume(PauseScope::Type("DeleteTable"));
  ExpectServed("t", 2);
  EXPECT_NE(Outcome(drop).find("FAILED_PRECONDITION"), std::string::npos) << Outcome(drop);
}

// An EnableTable that runs only after its table was replaced by another one of that name acts on the new table's state.
TEST_F(LockGrantTest, LateEnableUsesTheCurrentTable) {
  cluster_.Boot(2);
  for (const bool disabled : {false, true}) {
    GivenTable("t", 2);
    Done(Disable("t"));
    Pause(PauseScope::Type("EnableTable"));
    const auto late = Enable("t");
    Done(Delete("t"));
    Done(Create("t", 2));
    cluster_.WriteEverywhere();
    if (disabled) Done(Disable("t"));
    Resume(PauseScope::Type("EnableTable"));
    ExpectServed("t", 2);
    EXPECT_EQ(Outcome(late) == "success", disabled) << Outcome(late);
    Done(Disable("t"));
    Done(Delete("t"));
  }
}

TEST_F(LockGrantTest, NoPauseMakesAStartingServerExit) {
  sim::SimServer& fresh = AServerStartsInAPause();
  EXPECT_TRUE(fresh.alive());
  EXPECT_FALSE(fresh.registered);
  std::string answer;
  master().logic().server_manager.Register(fresh.name(), "again",
                                           [&](const Status& status) { answer = status.error().message(); });
  EXPECT_NE(answer.find("paused"), std::string::npos) << "it is not told why: " << answer;
  Resume(PauseScope::Everything());
  ASSERT_TRUE(cluster_.RunUntil([&] { return fresh.registered; }));
  EXPECT_TRUE(master().logic().servers.IsOnline(fresh.name()));
  EXPECT_EQ(Crashes(), 0U);
}

TEST_F(LockGrantTest, ARegistrationOutlivesAMasterInAPause) {
  sim::SimServer& fresh = AServerStartsInAPause();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunFor(Millis(2'000)));
  EXPECT_TRUE(fresh.alive());
  Resume(PauseScope::Everything());
  ASSERT_TRUE(cluster_.RunUntil([&] { return fresh.registered; }));
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_TRUE(master().logic().servers.IsOnline(fresh.name()));
  EXPECT_EQ(Crashes(), 0U);
}

TEST_F(LockGrantTest, RegistrationThatEndsInAPauseCausesNoCrash) { EXPECT_EQ(ServersComeAndGoInAPause(), 0U); }

// The younger incarnation at an address registers first: the older one no longer changes anything.
TEST_F(LockGrantTest, ALateRegistrationLowersNoStartCode) {
  cluster_.Boot(2);
  const ServerName older{"fresh", 16020, 50};
  const ServerName younger{"fresh", 16020, 60};
  std::map<std::uint64_t, Status> answers;
  const auto ask = [&](const ServerName& server) {
    master().logic().server_manager.Register(
        server, "x", [&answers, server](const Status& status) { answers.insert_or_assign(server.start_code, status); });
  };
  Pause(PauseScope::Type("RegisterServer"));
  ask(older);
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("RegisterServer").size() == 1; }));
  const PauseScope first = PauseScope::Procedure(master().executor().FindUnfinished("RegisterServer")[0]);
  Pause(first);
  ask(younger);
  Resume(PauseScope::Type("RegisterServer"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return answers.contains(60); }));
  EXPECT_TRUE(answers.at(60).ok());
  Resume(first);
  ASSERT_TRUE(cluster_.RunUntil([&] { return answers.contains(50); }));
  EXPECT_FALSE(answers.at(50).ok());
  const auto records = master().executor().SystemRecords();
  EXPECT_EQ(records.at("startcode/fresh,16020"), "60");
  EXPECT_FALSE(records.contains("server/" + older.ToString()));
}

TEST_F(LockGrantTest, ATableIsDisabledFromEnabling) {
  EXPECT_EQ(ACreationThatHangsIsTakenOver(), "");
  NoRegionCanBeOpened(false);
  Done(Enable("t"));
  cluster_.WriteEverywhere();
  ExpectServed("t", 2);
}

TEST_F(LockGrantTest, ATableIsDroppedFromEnabling) {
  const auto created = ACreationHangs();
  const auto dropped = Delete("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(dropped), "success");
  EXPECT_EQ(ResultOf(dropped), kDisabledFirst);
  EXPECT_TRUE(ResultOf(created).starts_with(kTakenOver)) << ResultOf(created);
  EXPECT_TRUE(cluster_.meta().tables().empty());
  EXPECT_EQ(cluster_.storage().tables.size(), 1U);
  NoRegionCanBeOpened(false);
  GivenTable("t", 2);
}

TEST_F(LockGrantTest, ATableIsDisabledAndDroppedFromDisabling) {
  for (const bool drop : {false, true}) {
    if (!drop) cluster_.Boot(2);
    GivenTable("t", 2);
    for (sim::SimServer* server : cluster_.Alive()) server->order_time = Millis(3'000);
    const auto first = Disable("t");
    ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].state == RegionState::kClosing; }));
    const auto second = drop ? Delete("t") : Disable("t");
    ASSERT_TRUE(second.ok()) << second.error().ToString();
    ExpectSettled();
    EXPECT_EQ(Outcome(second), "success");
    EXPECT_TRUE(ResultOf(first).starts_with(kTakenOver)) << ResultOf(first);
    for (sim::SimServer* server : cluster_.Alive()) server->order_time = Millis(2);
    if (!drop) Done(Delete("t"));
    EXPECT_TRUE(cluster_.meta().tables().empty());
  }
}

// While DeleteTable waits for regions to close, no procedure takes the table over.
TEST_F(LockGrantTest, ATableThatIsBeingDeletedIsNotTakenOver) {
  (void)ACreationHangs();
  for (sim::SimServer* server : cluster_.Alive()) server->order_time = Millis(3'000);
  NoRegionCanBeOpened(false);
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].state == RegionState::kOpening; }));
  const auto dropped = Delete("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.meta().tables().at(T()).state == TableState::kDisabling; }));
  const auto disabled = Disable("t");
  const auto again = Delete("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(dropped), "success");
  EXPECT_NE(Outcome(disabled), "success");
  EXPECT_NE(Outcome(again), "success");
}

// A request for a table between two states is not applied to the next table of its name.
TEST_F(LockGrantTest, OnlyTheTableThatWasSeenIsTakenOver) {
  (void)ACreationHangs();
  Pause(PauseScope::Type("DeleteTable"));
  const auto first = Delete("t");
  const PauseScope second = PauseScope::Procedure(*first);
  Pause(second);
  Resume(PauseScope::Type("DeleteTable"));
  Done(Disable("t"));
  Done(Delete("t"));
  const auto created = Create("t", 2);
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t").size() == 2 && Regions("t")[0].failed_opens > 4; }));
  Resume(second);
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(*first).finished(); }));
  EXPECT_NE(Outcome(first), "success");
  NoRegionCanBeOpened(false);
  Done(created);
}

TEST_F(LockGrantTest, SupersededProcedureKnowsItAfterAFailover) {
  (void)ACreationHangs();
  Pause(PauseScope::Type("CreateTable"));
  Done(Disable("t"));
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  Resume(PauseScope::Type("CreateTable"));
  ExpectSettled();
  EXPECT_EQ(cluster_.meta().tables().at(T()).state, TableState::kDisabled);
}

#if defined(RATCHET_MUTANTS)
TEST_F(LockGrantTest, ClosingForALiveTableIsNoticed) {
  ExpectKilled(
      "master.close_for_a_live_table", [&] { return APartOfADisablingIsLate(); }, "a region is CLOSED");
}
TEST_F(LockGrantTest, NumbersBySubmissionAreNoticed) {
  ExpectKilled(
      "master.numbers_by_submission", [&] { return ADropIsLate(); }, "STALE: writing hbase:meta: table row is newer");
}
TEST_F(LockGrantTest, ForgettingARegistrationIsNoticed) {
  const ScopedMutant mutant("master.forget_registering");
  EXPECT_FALSE(AServerStartsInAPause().alive());
}
TEST_F(LockGrantTest, RecordingALateRegistrationIsNoticed) {
  const ScopedMutant mutant("master.record_late_registration");
  EXPECT_GT(ServersComeAndGoInAPause(), 0U);
}
TEST_F(LockGrantTest, IgnoringATakeOverIsNoticed) {
  ExpectKilled(
      "master.ignore_take_over", [&] { return ACreationThatHangsIsTakenOver(); },
      "STALE: writing hbase:meta: table row is newer");
}
#endif

}  // namespace
}  // namespace ratchet::master
