// Operators' verbs at unusual moments: the work that they interrupt ends, with a result that gives the reason.
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class VerbsTest : public MasterTest {
 protected:
  ProcId OnlyOf(const char* type) {
    const auto found = master().executor().FindUnfinished(type);
    return found.size() == 1 ? found.front() : ProcId();
  }
  std::string StepOf(ProcId pid) {
    const auto info = master().executor().Get(pid);
    return info ? info->step_name : "";
  }
  // A disabled table; an operator ends its deletion when the row is gone from hbase:meta and the master has not
  // received the acknowledgement.
  void GivenADeletionThatIsCutShort() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    (void)Disable("t");
    ExpectSettled();
    (void)Delete("t");
    ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.meta().tables().empty(); }));
    ASSERT_TRUE(master().logic().env.tables.Exists(TableName("default", "t"))) << "heard of at once";
    master().executor().Bypass(OnlyOf("DeleteTable"), true, {"op", "enough"}, [](const Status&) {});
    ASSERT_TRUE(cluster_.RunUntil([&] { return !OnlyOf("DeleteTable").valid(); }));
  }
  // A server dies, and an operator sends its crash procedure, which has done nothing yet, to the state `name`.
  std::string ACrashProcedureIsSentTo(const char* name, std::string& answer) {
    cluster_.Boot(3);
    GivenTable("t", 6);
    const auto crashes = procedure::PauseScope::Type("ServerCrash");
    master().executor().Pause(crashes, {"op", "wait"}, Millis(0), [](const auto&) {});
    cluster_.Kill(OtherThan(MetaHost()));
    if (!cluster_.RunUntil([&] { return OnlyOf("ServerCrash").valid(); })) return "no crash procedure";
    const ProcId pid = OnlyOf("ServerCrash");
    master().executor().Rerun(
        pid, *master().executor().FindStep(pid, name), {"op", "hurry"},
        [&answer](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
    (void)cluster_.RunFor(Millis(50));
    master().executor().Resume(crashes, {"op", "go on"}, [](const Status&) {});
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    return cluster_.CheckSettled();
  }
};

// Regions that are assigned before the log was split open without acknowledged data.
TEST_F(VerbsTest, ARerunSkipsNothing) {
  std::string answer;
  EXPECT_EQ(ACrashProcedureIsSentTo("ASSIGN_REGIONS", answer), "");
  EXPECT_NE(answer.find("ServerCrash must not skip states"), std::string::npos) << answer;
}

TEST_F(VerbsTest, ARerunMayRepeat) {
  std::string answer;
  EXPECT_EQ(ACrashProcedureIsSentTo("START", answer), "");
  EXPECT_EQ(answer, "ok");
}

#if defined(RATCHET_MUTANTS)
TEST_F(VerbsTest, SkippingStatesIsNoticed) {
  std::string answer;
  ExpectKilled(
      "procedure.rerun_any_state", [&] { return ACrashProcedureIsSentTo("ASSIGN_REGIONS", answer); },
      "acknowledged is");
  EXPECT_EQ(answer, "ok");
}
#endif

// A region is in transition, and its order is settled. The transition may only rerun from its first state, which checks
// where the region is.
TEST_F(VerbsTest, ATransitionIsRunAgainFromItsBeginning) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  const auto moving = procedure::PauseScope::Type("TransitRegionState");
  (void)Move(encoded, OtherThan(HostOf(encoded)).name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return StepOf(OnlyOf("TransitRegionState")) == "CONFIRM_OPENED"; }));
  master().executor().Pause(moving, {"op", "wait"}, Millis(0), [](const auto&) {});
  ASSERT_TRUE(cluster_.RunUntil([&] { return !OnlyOf("OpenRegion").valid(); }));
  const ProcId pid = OnlyOf("TransitRegionState");
  std::string answers;
  const auto told = [&answers](const Status& status) {
    answers += status.ok() ? "ok;" : status.error().message() + ";";
  };
  for (const char* step : {"OPEN", "CLOSE", "CONFIRM_CLOSED", "GET_ASSIGN_CANDIDATE"}) {
    master().executor().Rerun(pid, *master().executor().FindStep(pid, step), {"op", "again"}, told);
    (void)cluster_.RunFor(Millis(10));
  }
  const std::string no = "only its current state and its first one may be run again;";
  EXPECT_EQ(answers, no + no + no + "ok;");
  master().executor().Resume(moving, {"op", "go on"}, [](const Status&) {});
  ExpectServed("t", 1);
}

// The verb arrives between the commit of "opening at that server" and the order.
TEST_F(VerbsTest, ATransitionThatHasOrderedNothingYetIsRunAgain) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  const auto moved = Move(encoded, OtherThan(HostOf(encoded)).name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().Get(*moved)->step_name == "OPEN"; }));
  std::string answer;
  master().executor().Rerun(*moved, *master().executor().FindStep(*moved, "GET_ASSIGN_CANDIDATE"), {"op", "again"},
                            [&](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(answer, "ok");
  ExpectServed("t", 1);
}

// The next request finds the table in memory, and the next master does not: it waited without end for a table that does
// not return.
TEST_F(VerbsTest, ATableThatAnEndedDeletionTookAwayIsNotWaitedFor) {
  GivenADeletionThatIsCutShort();
  cluster_.options().lost_permille = 1000;
  const auto enabling = Enable("t");
  ASSERT_TRUE(enabling.ok()) << enabling.error().ToString();
  ASSERT_TRUE(cluster_.RunUntil([&] { return StepOf(*enabling) == "SET_ENABLING_TABLE_STATE"; }));
  cluster_.StartMaster();
  cluster_.options().lost_permille = 0;
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Outcome(enabling), "NOT_FOUND: table t does not exist");
}

// If no other master takes over, hbase:meta answers that there is no row (S173: only creations add table rows).
TEST_F(VerbsTest, ATableThatAnEndedDeletionTookAwayDoesNotReturn) {
  GivenADeletionThatIsCutShort();
  const auto enabling = Enable("t");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Outcome(enabling), "NOT_FOUND: table t does not exist");
  EXPECT_TRUE(cluster_.meta().tables().empty());
  EXPECT_FALSE(master().logic().env.tables.Exists(TableName("default", "t")));
}

}  // namespace
}  // namespace ratchet::master
