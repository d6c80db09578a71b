// S122 (actions on files end with their step): a step that waits for its own work stays in progress without a worker.
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

class StayingStepsTest : public ExecutorTest {
 protected:
  // A procedure whose second step waits for its own work. `last`: it has no third step.
  ProcId GivenAStayingStep(bool last = true) {
    std::vector<testing::pb::ScriptOp> ops = {Op(Kind::NEXT), Op(Kind::STAY)};
    if (!last) ops.push_back(Op(Kind::NEXT));
    const ProcId pid = Submit(ScriptOf("a", ops));
    Run();
    EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kAsync);
    EXPECT_EQ(Info(pid).waiting.detail, "own work");
    return pid;
  }
  // Ends the first work that was started and has not ended.
  void EndWork() {
    EXPECT_TRUE(journal_.FinishAsync());
    Run();
  }
};

TEST_F(StayingStepsTest, OthersRunMeanwhileAndNoCommitIsMade) {
  const ProcId pid = GivenAStayingStep();
  const std::uint64_t before = disk_.CommitCount();
  Run();
  EXPECT_EQ(disk_.CommitCount(), before);
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_FALSE(Info(pid).running) << "no worker is in it";
  const ProcId other = Submit(ScriptOf("b", {Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
  EndWork();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(journal_.Story(), "+a1 ?a2 +b1 +a2") << "the work is started once";
  EXPECT_EQ(executor().History(pid).size(), 2U) << "its runs are one entry";
}

TEST_F(StayingStepsTest, WorkThatEndsBeforeTheStepLeavesIsNotMissed) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::STAY, "early"), Op(Kind::ONCE, "early"), Op(Kind::STAY, "early")}));
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(StayingStepsTest, WorkThatEndsAtOnceNeedsNoSecondRun) {
  journal_.SetAsync(true);
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::STAY)}));
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(StayingStepsTest, AnAbortWaitsForTheWorkAndItsUndoComesLater) {
  const ProcId pid = GivenAStayingStep(/*last=*/false);
  (void)Abort(pid, "me", "enough");
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(journal_.Story(), "+a1 ?a2") << "nothing is undone while the step acts";
  EndWork();
  EXPECT_EQ(journal_.Story().find("-a1"), std::string::npos) << "the undo of the second step has work too";
  EndWork();
  EXPECT_EQ(Outcome(pid).substr(0, 6), "failed");
  EXPECT_EQ(journal_.InForce(), "");
}

// The undo of a tree begins when no step of it is in progress. Until then each other member names that step's
// procedure as what it waits for.
TEST_F(StayingStepsTest, MembersOfAFailingTreeWaitForItsStepInProgress) {
  const Script stays = ScriptOf("", {Op(Kind::STAY), Op(Kind::NEXT)});
  const Script waits = ScriptOf("", {Op(Kind::AWAIT_EVENT, "never")});
  const Script fails = ScriptOf("", {Op(Kind::AWAIT_EVENT, "go"), Op(Kind::FAIL, "x")});
  const ProcId root = Submit(ScriptOf("p", {SpawnOp({stays, waits, fails}), Op(Kind::NEXT)}));
  Run();
  journal_.FirstTime("event:go");
  executor().Wake({"go"});
  Run();
  ProcId acts;
  for (const ProcedureInfo& info : executor().List()) {
    if (info.waiting.own) acts = info.pid;
  }
  ASSERT_TRUE(acts.valid());
  int others = 0;
  for (const ProcedureInfo& info : executor().List()) {
    EXPECT_TRUE(info.failing);
    if (info.pid == acts) continue;
    ++others;
    EXPECT_EQ(ToText(info.waiting), fmt::format("undo of others after the step in progress of pid={}", acts))
        << "pid " << info.pid.value() << " " << ProcStateName(info.state);
    EXPECT_FALSE(info.waiting.next_try_in.has_value()) << "it is not retried";
  }
  EXPECT_EQ(others, 3) << "the root and two children";
  EndWork();
  EndWork();
  EXPECT_EQ(Outcome(root).substr(0, 6), "failed");
  EXPECT_EQ(journal_.InForce(), "");
}

#if defined(RATCHET_MUTANTS)
TEST_F(StayingStepsTest, WorkThatOutlivesItsStepIsNoticed) {
  const ScopedMutant mutant("procedure.own_work_outlives_step");
  const ProcId pid = GivenAStayingStep();
  (void)Abort(pid, "me", "enough");
  Run();
  EXPECT_NE(journal_.Story(), "+a1 ?a2") << "something was undone while the step acts";
}
#endif

TEST_F(StayingStepsTest, AVerbWaitsForTheWork) {
  const ProcId pid = GivenAStayingStep();
  std::optional<Status> answer;
  executor().Bypass(pid, false, {"op", "stuck"}, [&](const Status& status) { answer = status; });
  Run();
  EXPECT_FALSE(answer.has_value());
  EXPECT_FALSE(Info(pid).bypassed);
  EndWork();
  EXPECT_TRUE(answer.has_value());
}

TEST_F(StayingStepsTest, AReportWaitsForTheWork) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::STAY), Op(Kind::AWAIT_REPORT, "opened")}));
  Run();
  auto answer = std::make_shared<std::string>("unanswered");
  executor().Deliver(pid, "opened", [answer](const Result<Absorbed>& absorbed) {
    *answer = absorbed.ok() && absorbed->taken() ? "taken" : "refused";
  });
  Run();
  EXPECT_EQ(*answer, "unanswered");
  EndWork();
  EXPECT_EQ(*answer, "taken");
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(StayingStepsTest, AnotherProcedureWaitsForItsLock) {
  Submit(WithLock(ScriptOf("a", {Op(Kind::STAY)}), "t:x", true));
  Run();
  const ProcId second = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
  Run();
  EXPECT_EQ(Outcome(second), "running");
  EXPECT_EQ(Info(second).waiting.kind, WaitingOn::Kind::kLock);
  EndWork();
  EXPECT_EQ(Outcome(second), "success: b");
}

TEST_F(StayingStepsTest, AnUndoWaitsForItsWorkWithoutAWorker) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::STAY, "early"), Op(Kind::FAIL, "no")}));
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Info(pid).waiting.detail, "undo a1");
  EXPECT_EQ(journal_.InForce(), "a1");
  const ProcId other = Submit(ScriptOf("b", {Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
  EndWork();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
}

TEST_F(StayingStepsTest, AnUndoThatFailsAfterItsWorkDoesTheWorkAgain) {
  journal_.FailUndo("a1", 1);
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::STAY, "early"), Op(Kind::FAIL, "no")}));
  Run();
  EndWork();
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kRetry);
  ASSERT_TRUE(time_.RunNext());
  Run();
  EXPECT_EQ(Info(pid).waiting.detail, "undo a1");
  EndWork();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
}

TEST_F(StayingStepsTest, TheNextMasterDoesTheWorkAgain) {
  const ProcId pid = GivenAStayingStep();
  NewMaster();
  Run();
  EXPECT_EQ(Info(pid).waiting.detail, "own work");
  EndWork();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(journal_.Story(), "+a1 ?a2 +a2");
}

TEST_F(StayingStepsTest, WhatEndsAfterTheStopIsIgnored) {
  GivenAStayingStep();
  executor().Stop();
  EXPECT_TRUE(journal_.FinishAsync());
}

TEST_F(StayingStepsTest, APauseNamesTheStepUntilItHasEnded) {
  const ProcId pid = GivenAStayingStep();
  std::optional<std::size_t> running;
  executor().Pause(PauseScope::Everything(), {"op", "look"}, Millis{10'000},
                   [&](const Result<PauseReport>& report) { running = report.ok() ? report->running.size() : 99; });
  Run();
  EXPECT_FALSE(running.has_value()) << "a step acts";
  EndWork();
  EXPECT_EQ(running, 0U);
  EXPECT_EQ(Outcome(pid), "success: a") << "the step that had begun was its last";
}

TEST_F(StayingStepsTest, UrgentOnesContinueOnTheReservedWorker) {
  const ProcId urgent = Submit(WithLock(ScriptOf("a", {Op(Kind::STAY)}), "m", true));
  const ProcId other = Submit(ScriptOf("b", {Op(Kind::STAY)}));
  Run();
  EXPECT_TRUE(journal_.FinishAsync());
  EXPECT_TRUE(journal_.FinishAsync());
  while (master().workers().RunOneUrgent()) {
  }
  EXPECT_EQ(Outcome(urgent), "success: a");
  EXPECT_EQ(Outcome(other), "running");
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
}

TEST_F(StayingStepsTest, OnesThatWaitForLongAreShownAndHoldNoWorker) {
  options_.stuck_threshold = Millis{100};
  const ProcId pid = GivenAStayingStep();
  EXPECT_EQ(executor().Workers().staying, 0U);
  time_.Advance(Millis{200});
  const WorkersInfo info = executor().Workers();
  EXPECT_EQ(info.held, 0U);
  EXPECT_EQ(info.staying, 1U);
  EXPECT_EQ(info.longest_staying, pid);
  EXPECT_EQ(info.longest_work, "own work");
  EndWork();
  EXPECT_EQ(executor().Workers().staying, 0U);
}

}  // namespace
}  // namespace ratchet::procedure
