// A procedure with a deadline fails by name when the time is over, and is undone; after its point of no return it
// continues.
#include "procedure/api/executor_options.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

constexpr Millis kDeadline{500};

class DeadlineTest : public ExecutorTest {
 protected:
  ProcId SubmitWithDeadline(const Script& script, Millis deadline = kDeadline) {
    SubmitOptions options;
    options.owner = "tester";
    options.deadline = deadline;
    const Result<ProcId> pid = executor().Submit(MakeScript(script), options);
    EXPECT_TRUE(pid.ok());
    return pid.ok() ? *pid : ProcId();
  }
  void Pass(Millis time) {
    time_.Advance(time);
    Run();
  }
  // A procedure that does one step and then waits for an event without end.
  static Script Endless(const std::string& name) {
    return ScriptOf(name, {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")});
  }
};

TEST_F(DeadlineTest, IsFailedByNameAndUndone) {
  const ProcId pid = SubmitWithDeadline(WithLock(Endless("a"), "t:x", true, true));
  Run();
  EXPECT_EQ(Info(pid).deadline_ms, 500U);
  Pass(kDeadline - Millis(1));
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(journal_.InForce(), "a1");
  Pass(Millis(1));
  const ProcedureResult result = executor().GetResult(pid);
  ASSERT_EQ(result.status, ProcedureResult::Status::kFailed);
  EXPECT_EQ(result.error->code(), Code::kTimeout);
  EXPECT_EQ(result.error->remote_class(), kDeadlineClass);
  EXPECT_EQ(result.error->message(), "the deadline of 500 ms is over");
  EXPECT_EQ(journal_.InForce(), "") << "and is undone";
  EXPECT_TRUE(executor().Locks().empty());
}

TEST_F(DeadlineTest, TheWholeTreeIsUndone) {
  const ProcId pid = SubmitWithDeadline(ScriptOf("p", {SpawnOp({Endless("c")}), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(journal_.InForce(), "c1,p1");
  Pass(kDeadline);
  EXPECT_EQ(executor().GetResult(pid).error.value_or(Error(Code::kInternal, "")).remote_class(), kDeadlineClass);
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(DeadlineTest, DoesNothingToOneThatHasEnded) {
  const ProcId pid = SubmitWithDeadline(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::DONE, "r")}));
  Run();
  ASSERT_EQ(Outcome(pid), "success: r");
  EXPECT_EQ(time_.pending(), 0U) << "its timer is gone";
  Pass(kDeadline * 2);
  EXPECT_EQ(Outcome(pid), "success: r");
}

TEST_F(DeadlineTest, BehindThePointOfNoReturnItContinues) {
  const ProcId pid = SubmitWithDeadline(WithFlavor(Endless("a"), "ScriptNoReturn"));
  Run();
  Pass(kDeadline);
  EXPECT_EQ(Outcome(pid), "running");
  journal_.FirstTime("event:never");
  executor().Wake({"never"});
  RunAll();
  EXPECT_EQ(Outcome(pid).substr(0, 7), "success");
}

// No point in time is stored (S13: durations and derived counts): the time begins again with a load.
TEST_F(DeadlineTest, SurvivesTheMaster) {
  const ProcId pid = SubmitWithDeadline(Endless("a"));
  Run();
  Pass(kDeadline - Millis(1));
  NewMaster();
  Run();
  EXPECT_EQ(Info(pid).deadline_ms, 500U);
  Pass(kDeadline - Millis(1));
  EXPECT_EQ(Outcome(pid), "running");
  Pass(Millis(1));
  EXPECT_EQ(executor().GetResult(pid).error.value_or(Error(Code::kInternal, "")).remote_class(), kDeadlineClass);
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(DeadlineTest, WithoutOneItWaits) {
  const ProcId pid = SubmitWithDeadline(Endless("a"), Millis(0));
  Run();
  Pass(Millis(86'400'000));
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Info(pid).waiting.detail, "never") << "a wait names its event";
}

}  // namespace
}  // namespace ratchet::procedure
