// Bypass, park, unpark, rerun: durable, with user and reason.
#include "common/base/mutant.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

class OperatorTest : public ExecutorTest {
 protected:
  std::string Bypass(ProcId pid, bool recursive = false) {
    std::string answer = "unanswered";
    executor().Bypass(pid, recursive, {"op", "stuck"}, Keep(answer));
    return answer;
  }
  // Returns the steps whose undo was called, of a procedure that is aborted while it waits for its lock, under a second
  // master.
  std::string UndoneAfterALoad() {
    Submit(WithLock(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}), "t:x", true, true));
    const ProcId pid = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
    Run();
    NewMaster();
    Run();
    std::string undone;
    journal_.SetObserver(
        [&undone](char sign, const std::string& what, const Procedure&) { undone += sign == 'u' ? what : ""; });
    EXPECT_TRUE(Abort(pid, "op", "no more").ok());
    Run();
    journal_.SetObserver(nullptr);
    EXPECT_EQ(Outcome(pid), "failed: ABORTED: aborted by op: no more");
    return undone;
  }
  static std::function<void(Status)> Keep(std::string& answer) {
    return [&answer](const Status& status) { answer = status.ok() ? "ok" : status.error().ToString(); };
  }
};

TEST_F(OperatorTest, BypassEndsAWaitingProcedureAndFreesItsLocks) {
  const ProcId pid =
      Submit(WithLock(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")}), "t:x", true, true));
  Run();
  EXPECT_EQ(Bypass(pid), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_TRUE(executor().Locks().empty());
  EXPECT_EQ(journal_.InForce(), "a1") << "the world is left as it is";
  EXPECT_EQ(Bypass(pid).substr(0, 9), "NOT_FOUND");
}

// The state that the rerun leaves has acted, but its outcome was lost with its master.
TEST_F(OperatorTest, RerunUndoesTheStepThatItLeavesBehind) {
  NewMaster(CrashPlan{3, 0});
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  Run();
  ASSERT_EQ(journal_.InForce(), "a1,a2");
  NewMaster();
  EXPECT_EQ(Info(pid).step_name, "TWO");
  std::string answer = "unanswered";
  executor().Rerun(pid, 3, {"op", "skip it"}, Keep(answer));
  Run();
  EXPECT_EQ(answer, "ok");
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
  EXPECT_EQ(journal_.InForce(), "");
}

// The work of the child below the bypassed one may still be undone with the tree: no other procedure gets its locks
// meanwhile, S16 (parent keeps child locks).
TEST_F(OperatorTest, BypassKeepsTheLocksOfSucceededChildrenInTheTree) {
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT)}), "t:x", true);
  const Script middle = ScriptOf("", {SpawnOp({child}), Op(Kind::AWAIT_EVENT, "never")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({middle, ScriptOf("", {Op(Kind::AWAIT_EVENT, "e")})})}));
  Run();
  EXPECT_EQ(Bypass(ProcId(pid.value() + 1)), "ok");
  Run();
  const ProcId other =
      Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "end")}), "t:x", true, true));
  Run();
  EXPECT_EQ(Info(other).waiting.kind, WaitingOn::Kind::kLock);
  NewMaster();
  Run();
  EXPECT_TRUE(executor().LoadProblems().empty());
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(Info(other).waiting.kind, WaitingOn::Kind::kEvent);
}

TEST_F(OperatorTest, BypassOfAParentNeedsRecursive) {
  const Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child, child}), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Bypass(pid), "FAILED_PRECONDITION: pid 1 has unfinished children");
  EXPECT_EQ(Bypass(pid, /*recursive=*/true), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(disk_.Records().size(), 1U);
}

TEST_F(OperatorTest, BypassOfAChildTakesItsAncestorsAlong) {
  const Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child}), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Bypass(ProcId(pid.value() + 1)), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(journal_.InForce(), "p.a1,p1") << "the parent's next step does not run";
}

TEST_F(OperatorTest, BypassGoesPastAnUndoThatNeverSucceeds) {
  journal_.FailUndo("a2", 1'000'000);
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  Run();
  time_.RunNext();
  Run();
  EXPECT_EQ(Bypass(pid), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
  EXPECT_EQ(journal_.InForce(), "a1,a2");
}

// A verb that comes while the undo runs does not wait for its success, which may never come.
TEST_F(OperatorTest, AVerbDuringAFailingUndoIsApplied) {
  journal_.FailUndo("a2", 1'000'000);
  std::string answer;
  journal_.SetObserver([&](char sign, const std::string& effect, const Procedure& by) {
    if (sign == 'u' && effect == "a2" && answer.empty()) {
      answer = "unanswered";
      executor().Bypass(by.pid(), false, {"op", "stuck"}, Keep(answer));
    }
  });
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  RunAll();
  EXPECT_EQ(answer, "ok");
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
  EXPECT_EQ(journal_.InForce(), "a1,a2");
}

// Nor does the verb wait until everything else is undone.
TEST_F(OperatorTest, AVerbDuringAnUndoIsAppliedBeforeTheNextOne) {
  std::string answer;
  journal_.SetObserver([&](char sign, const std::string& effect, const Procedure& by) {
    if (sign == 'u' && effect == "a2") executor().Park(by.pid(), {"op", "look"}, Keep(answer));
  });
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  RunAll();
  EXPECT_EQ(answer, "ok");
  EXPECT_EQ(Info(pid).parked, "parked by op: look");
  EXPECT_EQ(journal_.InForce(), "a1") << "nothing of what is parked is undone";
  executor().Unpark(pid, {"op", "seen"}, Keep(answer));
  RunAll();
  EXPECT_EQ(journal_.InForce(), "");
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
}

TEST_F(OperatorTest, BypassSurvivesTheMaster) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "never"), Op(Kind::NEXT)}));
  Run();
  master().store().HoldBack(true);
  executor().Bypass(pid, false, {"op", "x"}, [](const Status&) {});
  NewMaster();  // the commit was durable, but no caller was notified
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(OperatorTest, ParkHoldsUntilUnpark) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT)}));
  Run();
  std::string answer;
  executor().Park(pid, {"op", "wait"}, Keep(answer));
  EXPECT_EQ(answer, "ok");
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Info(pid).parked, "parked by op: wait");
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  executor().Unpark(pid, {"op", "go"}, Keep(answer));
  EXPECT_EQ(answer, "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  executor().Unpark(pid, {"op", "go"}, Keep(answer));
  EXPECT_EQ(answer.substr(0, 9), "NOT_FOUND");
}

TEST_F(OperatorTest, WhatIsParkedIsNotUndoneBeforeItIsUnparked) {
  journal_.FailUndo("p.a1", 1);
  const Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child}), Op(Kind::NEXT)}));
  Run();
  ASSERT_TRUE(Abort(pid, "op", "no more").ok());
  Run();
  ASSERT_EQ(journal_.InForce(), "p.a1,p1") << "its undo has failed once";
  std::string answer;
  executor().Park(ProcId(2), {"op", "to look"}, Keep(answer));
  EXPECT_EQ(answer, "ok");
  EXPECT_NE(Deliver(ProcId(2), "too late").find("is being undone"), std::string::npos);
  RunAll();
  NewMaster();
  RunAll();
  EXPECT_EQ(journal_.InForce(), "p.a1,p1");
  EXPECT_EQ(Info(ProcId(2)).waiting.kind, WaitingOn::Kind::kOperator);
  EXPECT_EQ(executor().WaitFor().Chain(pid), "1 -undo-> 2 (operator parked by op: to look)");
  executor().Unpark(ProcId(2), {"op", "seen"}, Keep(answer));
  RunAll();
  EXPECT_EQ(Outcome(pid), "failed: ABORTED: aborted by op: no more");
  EXPECT_EQ(journal_.InForce(), "");
}

// A child that has succeeded accepts no verb: a bypass of the root skips its undo.
TEST_F(OperatorTest, BypassOfTheRootGivesUpTheUndoOfSucceededChildren) {
  journal_.FailUndo("p.a1", 1'000'000);
  const Script child = ScriptOf("", {Op(Kind::NEXT)});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child}), Op(Kind::FAIL, "late")}));
  Run();
  EXPECT_EQ(Bypass(ProcId(2)).substr(0, 9), "NOT_FOUND");
  EXPECT_FALSE(Info(pid).bypassed) << "a refusal leaves its parents as they are";
  EXPECT_EQ(executor().WaitFor().Chain(pid).substr(0, 18), "1 -undo-> 2 (retry");
  NewMaster();
  Run();
  EXPECT_EQ(Bypass(pid), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: late");
  EXPECT_EQ(journal_.InForce(), "p.a1,p1");
  EXPECT_TRUE(executor().Locks().empty());
}

// The root is bypassed while a succeeded child is being undone: the running undo is the last one, even if it fails.
TEST_F(OperatorTest, BypassOfTheRootLetsTheUndoThatRunsBeTheLast) {
  for (const bool succeeds : {true, false}) {
    const std::string name = succeeds ? "s" : "f";
    const std::string effect = name + ".a1";
    if (!succeeds) journal_.FailUndo(effect, 1'000'000);
    std::string answer;
    ProcId pid;
    journal_.SetObserver([&](char sign, const std::string& what, const Procedure&) {
      if (sign == 'u' && what == effect) executor().Bypass(pid, false, {"op", "stuck"}, Keep(answer));
    });
    const Script child = ScriptOf("", {Op(Kind::NEXT)});
    pid = Submit(ScriptOf(name, {SpawnOp({child}), Op(Kind::FAIL, "late")}));
    Run();
    EXPECT_EQ(answer, "ok");
    EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: late");
    EXPECT_EQ(journal_.InForce(), succeeds ? "s1" : "f.a1,f1,s1");
    EXPECT_FALSE(time_.RunNext()) << "nobody waits to try the undo again";
    journal_.SetObserver({});
  }
}

// The root is bypassed while the undo waits for a worker: the undo does not run, not even while the end of the tree is
// being stored.
TEST_F(OperatorTest, BypassOfTheRootTakesTheUndoThatIsQueuedBack) {
  journal_.SetObserver([this](char sign, const std::string& what, const Procedure&) {
    if (sign == 'u' && what == "p.a1") master().store().HoldBack(true);
  });
  const Script child = ScriptOf("", {Op(Kind::NEXT)});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child, child}), Op(Kind::FAIL, "late")}));
  Run();
  master().store().ReleaseHeld();  // one child's undo is on record, the other's is queued
  std::string answer;
  executor().Bypass(pid, false, {"op", "stuck"}, Keep(answer));
  master().store().ReleaseHeld();
  EXPECT_EQ(answer, "ok");
  Run();
  master().store().ReleaseHeld();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: late");
  EXPECT_EQ(journal_.InForce(), "p.b1,p1") << journal_.Story();
}

// The abort of a parked procedure comes after a look at it; a park of a procedure that is to be aborted asks for a look
// first.
TEST_F(OperatorTest, AbortReleasesAnEarlierPark) {
  for (const bool park_first : {true, false}) {
    const std::string name = park_first ? "x" : "y";
    std::string parked;
    std::string aborted;
    ProcId pid;
    journal_.SetObserver([&](char sign, const std::string& what, const Procedure&) {
      if (sign != '+' || what != name + "2") return;
      if (park_first) executor().Park(pid, {"op", "to look"}, Keep(parked));
      executor().Abort(pid, {"op", "no more"}, Keep(aborted));
      if (!park_first) executor().Park(pid, {"op", "to look"}, Keep(parked));
    });
    pid = Submit(ScriptOf(name, {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)}));
    Run();
    EXPECT_EQ(parked, "ok");
    EXPECT_EQ(aborted, "ok");
    EXPECT_EQ(journal_.InForce(), park_first ? "" : "y1,y2");
    std::string answer;
    executor().Unpark(pid, {"op", "seen"}, Keep(answer));
    Run();
    EXPECT_EQ(Outcome(pid), "failed: ABORTED: aborted by op: no more");
    EXPECT_EQ(journal_.InForce(), "");
    journal_.SetObserver({});
  }
}

// User and reason stay with the procedure: shown, also by the next master, and after its end.
TEST_F(OperatorTest, EveryVerbIsShownWithWhoAndWhy) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::AWAIT_EVENT, "f")}));
  const ProcId aborted = Submit(ScriptOf("b", {Op(Kind::AWAIT_EVENT, "e")}));
  Run();
  std::string answer;
  executor().Park(pid, {"ann", "to look"}, Keep(answer));
  executor().Unpark(pid, {"bob", "seen"}, Keep(answer));
  executor().Rerun(pid, 2, {"cid", "skip it"}, Keep(answer));
  Run();
  EXPECT_FALSE(Info(pid).bypassed);
  Bypass(pid);
  ASSERT_TRUE(Abort(aborted, "dan", "no more").ok());
  Run();
  NewMaster();
  const auto story = [this](ProcId which) {
    std::string text;
    for (const VerbEntry& verb : Info(which).verbs)
      text += fmt::format("{} by {}: {}; ", verb.verb, verb.who, verb.why);
    return text;
  };
  EXPECT_EQ(story(pid), "park by ann: to look; unpark by bob: seen; rerun by cid: skip it; bypass by op: stuck; ");
  EXPECT_TRUE(Info(pid).bypassed);
  EXPECT_EQ(story(aborted), "abort by dan: no more; ");
}

TEST_F(OperatorTest, TheNewestVerbsAreKept) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}));
  std::string answer;
  for (int i = 0; i < 70; ++i) executor().Park(pid, {"op", std::to_string(i)}, Keep(answer));
  EXPECT_EQ(Info(pid).verbs.size(), 64U);
  EXPECT_EQ(Info(pid).verbs.front().why, "6");
}

TEST_F(OperatorTest, RerunTakesUpAParkedProcedureFromAnotherStep) {
  const ProcId pid =
      Submit(WithFlavor(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::THROW, "boom"), Op(Kind::NEXT)}), "ScriptNoReturn"));
  Run();
  EXPECT_NE(Info(pid).parked, "");
  std::string answer;
  executor().Rerun(pid, 9, {"op", "skip"}, Keep(answer));
  EXPECT_EQ(answer, "INVALID_ARGUMENT: ScriptNoReturn has no state 9");
  executor().Rerun(pid, 3, {"op", "skip"}, Keep(answer));
  EXPECT_EQ(answer, "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

// The second and the third state are after the point of no return.
class Steep final : public StateMachineProcedure<Steep, testing::pb::Script> {
 public:
  static constexpr std::string_view kTypeName = "Steep";
  static constexpr auto Steps() {
    return std::array{On<&Steep::Foot>(1, "FOOT", kNothingToUndo), On<&Steep::Top>(2, "TOP", kNoReturn),
                      On<&Steep::Beyond>(3, "BEYOND", kNoReturn)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  static inline int tops = 0;

 private:
  StepOutcome Foot(StepContext& /*ctx*/) { return GoTo<&Steep::Top>(); }
  StepOutcome Top(StepContext& /*ctx*/) {
    ++tops;
    return GoTo<&Steep::Beyond>();
  }
  StepOutcome Beyond(StepContext& /*ctx*/) { return tops < 2 ? StepOutcome(Await{}) : StepOutcome(Done{}); }
};

TEST_F(OperatorTest, ARerunGoesBackOnly) {  // S82 (rerun skips no state)
  registry_.Register<Steep>();
  Steep::tops = 0;
  const ProcId pid = *executor().Submit(std::make_unique<Steep>(testing::pb::Script{}));
  std::string answer;
  const auto rerun = [&](StepNo to) {
    executor().Rerun(pid, to, {"op", "x"},
                     [&answer](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
    return answer;
  };
  EXPECT_EQ(rerun(3), "Steep must not skip states: it may run its current state or an earlier one again");
  Run();
  EXPECT_EQ(Info(pid).step_name, "BEYOND");
  EXPECT_EQ(rerun(1), "FOOT may fail, and the tree is past its point of no return");
  EXPECT_EQ(rerun(2), "ok");
  Run();
  EXPECT_EQ(Steep::tops, 2);
  EXPECT_EQ(Outcome(pid), "success: ");
}

// A procedure waits for a lock that another procedure holds, its master dies, and it is aborted.
TEST_F(OperatorTest, WhatNeverHadItsLocksIsNotUndone) {  // S83 (no undo without locks)
  EXPECT_EQ(UndoneAfterALoad(), "");
}

#if defined(RATCHET_MUTANTS)
TEST_F(OperatorTest, UndoingWhatNeverHadItsLocksIsNoticed) {
  const ScopedMutant mutant("procedure.undo_without_locks");
  EXPECT_EQ(UndoneAfterALoad(), "b1");
}
#endif

}  // namespace
}  // namespace ratchet::procedure
