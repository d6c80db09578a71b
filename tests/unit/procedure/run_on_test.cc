// S147 (run on without acting): steps that run before the outcome that leads to them is durable.
#include <string>
#include <vector>

#include "common/base/mutant.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

Script RunsOn(std::string name, std::vector<testing::pb::ScriptOp> ops) {
  return WithFlavor(ScriptOf(std::move(name), std::move(ops)), "ScriptRunsOn");
}
testing::pb::ScriptOp Decide() { return Op(Kind::NEXT, "decide"); }

class RunOnTest : public ExecutorTest {
 protected:
  // Runs the script, and returns the number of its commits after the submission.
  std::uint64_t CommitsOf(const Script& script, const std::string& outcome) {
    const ProcId pid = Submit(script);
    const std::uint64_t before = disk_.CommitCount();
    RunAll();
    EXPECT_EQ(Outcome(pid), outcome);
    return disk_.CommitCount() - before;
  }
  // The report "decide"; its answer comes with the commit.
  std::shared_ptr<std::string> DeliverLater(ProcId pid) {
    auto answer = std::make_shared<std::string>("unanswered");
    executor().Deliver(pid, "decide", [answer](const Result<Absorbed>& absorbed) {
      *answer = absorbed.ok() && absorbed->taken() ? "taken" : "not taken";
    });
    return answer;
  }
  std::string StepsOf(ProcId pid) {
    std::string steps;
    for (const auto& entry : executor().History(pid)) steps += entry.step_name + " ";
    return steps;
  }
  // The second step acts. The master dies in the commit of the first.
  bool ActsBeforeTheCommit() {
    NewMaster({2, 0});
    Submit(RunsOn("a", {Decide(), Op(Kind::NEXT)}));
    Run();
    EXPECT_TRUE(master().dead());
    return journal_.InForce("a2");
  }
};

TEST_F(RunOnTest, StepsThatDecideAreOneCommit) {
  EXPECT_EQ(CommitsOf(RunsOn("a", {Decide(), Decide(), Decide(), Decide()}), "success: a"), 1U);
}

TEST_F(RunOnTest, EveryStepIsInTheHistory) {
  const ProcId pid = Submit(RunsOn("a", {Decide(), Decide(), Decide()}));
  RunAll();
  EXPECT_EQ(StepsOf(pid), "ONE TWO THREE ");
}

TEST_F(RunOnTest, AStepThatActsWaitsForTheCommit) { EXPECT_FALSE(ActsBeforeTheCommit()); }

TEST_F(RunOnTest, ActingBeforeTheCommitIsNoticed) {
  const ScopedMutant mutant("procedure.run_on_acts");
  EXPECT_TRUE(ActsBeforeTheCommit());
}

TEST_F(RunOnTest, AsynchronousWorkIsNotBegunBeforeTheCommit) {
  NewMaster({2, 0});
  Submit(RunsOn("a", {Decide(), Op(Kind::ONCE)}));
  Run();
  EXPECT_TRUE(master().dead());
  EXPECT_FALSE(journal_.FinishAsync());
}

TEST_F(RunOnTest, TheLastChildsEndAndItsParentsNextStepsAreOneCommit) {
  // Spawn; the child's end with the parent's.
  const Script child = RunsOn("c", {Decide()});
  testing::pb::ScriptOp spawn = SpawnOp({child});
  spawn.set_text("decide");
  EXPECT_EQ(CommitsOf(WithLock(RunsOn("a", {Decide(), spawn, Decide(), Decide()}), "t:x", true, true), "success: a"),
            2U);
}

TEST_F(RunOnTest, OnlyTheLastChildTakesItsParentAlong) {
  testing::pb::ScriptOp spawn = SpawnOp({RunsOn("c", {Decide()}), RunsOn("d", {Decide()}), RunsOn("e", {Decide()})});
  spawn.set_text("decide");
  EXPECT_EQ(CommitsOf(WithLock(RunsOn("a", {Decide(), spawn, Decide()}), "t:x", true, true), "success: a"), 4U);
}

TEST_F(RunOnTest, AReportAndTheStepThatReadsItAreOneCommitAndTheAnswerFollowsIt) {
  const ProcId pid = Submit(RunsOn("a", {Op(Kind::AWAIT_REPORT, "decide"), Decide()}));
  Run();
  const std::uint64_t before = disk_.CommitCount();
  const auto answer = DeliverLater(pid);
  EXPECT_EQ(*answer, "unanswered");
  Run();
  EXPECT_EQ(*answer, "taken");
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(disk_.CommitCount() - before, 1U);
}

TEST_F(RunOnTest, AReportIsNotAnsweredWhenTheCommitIsLost) {
  NewMaster({3, 0});
  const ProcId pid = Submit(RunsOn("a", {Op(Kind::AWAIT_REPORT, "decide"), Decide()}));
  Run();
  EXPECT_EQ(*DeliverLater(pid), "unanswered");
  Run();
  EXPECT_TRUE(master().dead());
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(*DeliverLater(pid), "unanswered");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(RunOnTest, StepsOfOneCommitAreUndoneWhenALaterStepFails) {
  // TWO has an undo, and was stored together with ONE and THREE.
  const ProcId pid = Submit(RunsOn("a", {Decide(), Decide(), Decide(), Op(Kind::FAIL, "no")}));
  RunAll();
  EXPECT_EQ(Outcome(pid).substr(0, 7), "failed:");
  EXPECT_EQ(StepsOf(pid), "ONE TWO THREE FOUR TWO ");
}

TEST_F(RunOnTest, APauseStopsBetweenTwoSteps) {
  const ProcId pid = Submit(RunsOn("a", {Op(Kind::AWAIT_REPORT, "decide"), Decide()}));
  Run();
  EXPECT_EQ(*DeliverLater(pid), "unanswered");
  executor().Pause(PauseScope::Procedure(pid), {"op", "test"}, Millis(0), [](const Result<PauseReport>&) {});
  Run();
  EXPECT_EQ(Outcome(pid), "running");
}

TEST_F(RunOnTest, ACrashAtAnyCommitChangesNothing) {
  SweepSubject subject;
  testing::pb::ScriptOp spawn = SpawnOp({RunsOn("c", {Decide(), Op(Kind::NEXT), Decide()}), RunsOn("d", {Decide()})});
  spawn.set_text("decide");
  const Script script = WithLock(
      RunsOn("a", {Decide(), Decide(), spawn, Decide(), Op(Kind::ONCE), Op(Kind::FAIL, "late")}), "t:x", true, true);
  subject.register_types = RegisterScripts;
  subject.make_world = [] { return std::make_shared<Journal>(); };
  subject.env = [](void* world) { return EnvRef::Of(*static_cast<Journal*>(world)); };
  subject.make_root = [script](void* /*world*/) { return MakeScript(script); };
  subject.drive = [](void* world, MasterLife& /*life*/) { return static_cast<Journal*>(world)->FinishAsync(); };
  subject.on_crash = [](void* world) { static_cast<Journal*>(world)->ForgetAsync(); };
  subject.fingerprint = [](void* world) { return static_cast<Journal*>(world)->InForce(); };
  const SweepReport report = RunCrashSweep(subject);
  EXPECT_GT(report.crashes, 10U);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
}

}  // namespace
}  // namespace ratchet::procedure
