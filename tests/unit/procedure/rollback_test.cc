// Failure, undo, points of no return, abort.
#include "common/base/mutant.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

TEST_F(ExecutorTest, FailureUndoesInReverseOrder) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
  EXPECT_EQ(journal_.Story(), "+a1 +a2 -a3 -a2 -a1") << "the failed step may have done a part";
  EXPECT_EQ(Info(pid).state, ProcState::kRolledBack);
}

TEST_F(ExecutorTest, UncaughtExceptionFailsThatTreeAlone) {
  const ProcId bad = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::THROW, "boom")}));
  const ProcId good = Submit(ScriptOf("b", {Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(bad), "failed: INTERNAL: uncaught exception: boom");
  EXPECT_EQ(Outcome(good), "success: b");
  EXPECT_EQ(journal_.InForce(), "b1");
}

TEST_F(ExecutorTest, SucceededChildrenAreUndoneInExactReverseOrder) {
  const Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::NEXT)});
  const ProcId pid = Submit(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({child, child}), Op(Kind::FAIL, "late")}));
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: late");
  std::vector<std::string> done;
  std::vector<std::string> undone;
  for (const std::string& line : journal_.Log()) {
    if (line == "-p3") continue;
    (line[0] == '+' ? done : undone).push_back(line.substr(1));
  }
  EXPECT_EQ(undone, std::vector<std::string>(done.rbegin(), done.rend())) << journal_.Story();
  EXPECT_EQ(disk_.Records().size(), 1U);
}

TEST_F(ExecutorTest, FailingChildUndoesTheWholeTree) {
  const Script good = ScriptOf("", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)});
  const Script bad = ScriptOf("", {Op(Kind::NEXT), Op(Kind::FAIL, "child")});
  const ProcId pid = Submit(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({good, bad, good}), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: child");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(ExecutorTest, WaitingSiblingsAreUndoneToo) {
  const Script waits = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")});
  const Script asks = ScriptOf("", {Op(Kind::NEXT), Op(Kind::ONCE)});
  const Script bad = ScriptOf("", {Op(Kind::NEXT), Op(Kind::YIELD), Op(Kind::FAIL, "child")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({waits, asks, bad})}));
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: child");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(ExecutorTest, FailedUndoIsRetriedUntilItSucceeds) {
  journal_.FailUndo("a1", 3);
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Info(pid).last_error->message(), "undo of a1 fails for now");
  EXPECT_TRUE(Info(pid).failing);
  RunAll();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(ExecutorTest, TreeKeepsTheLocksOfSucceededUndoableChildren) {
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT)}), "t:x", true);
  Submit(ScriptOf("p", {SpawnOp({child}), Op(Kind::AWAIT_EVENT, "e"), Op(Kind::FAIL, "late")}));
  Run();
  const ProcId other = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
  Run();
  EXPECT_EQ(Outcome(other), "running") << "nobody comes between (S16)";
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
  EXPECT_EQ(journal_.InForce(), "b1");
  EXPECT_TRUE(executor().Locks().empty());
}

TEST_F(ExecutorTest, MutantChildReleasesIsNoticed) {
  const ScopedMutant mutant("procedure.child_releases");
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT)}), "t:x", true);
  Submit(ScriptOf("p", {SpawnOp({child}), Op(Kind::AWAIT_EVENT, "e"), Op(Kind::FAIL, "late")}));
  Run();
  const ProcId other = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
  Run();
  EXPECT_EQ(Outcome(other), "success: b") << "without S16 somebody does come between";
}

// p waits for q, q's child for y, and y for p. When y has been undone, q's child waits for p itself, so p must be
// undone too.
TEST_F(ExecutorTest, DeadlockRevealedByBreakingAnotherIsBrokenToo) {
  const Script done = ScriptOf("", {Op(Kind::NEXT)});
  const ProcId q = Submit(
      WithLock(ScriptOf("q", {Op(Kind::AWAIT_EVENT, "go"), SpawnOp({WithLock(done, "r:b/0", true)}), Op(Kind::NEXT)}),
               "t:a", false, true));
  Run();
  const ProcId p =
      Submit(ScriptOf("p", {SpawnOp({WithLock(done, "r:b/0", true), WithLock(done, "t:a", true)}), Op(Kind::NEXT)}));
  Run();
  const ProcId y =
      Submit(ScriptOf("y", {SpawnOp({WithLock(done, "r:z/1", true), WithLock(done, "t:b", true)}), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(y), "running");
  journal_.FirstTime("event:go");
  executor().Wake({"go"});
  Run();
  EXPECT_TRUE(executor().WaitFor().cycles.empty());
  EXPECT_EQ(Outcome(q), "success: q");
  EXPECT_NE(Outcome(p).find("deadlock"), std::string::npos) << Outcome(p);
}

TEST_F(ExecutorTest, PointOfNoReturnReleasesWhatOnlyUndoNeeded) {
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT)}), "t:x", true);
  Submit(WithFlavor(ScriptOf("p", {SpawnOp({child}), Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}),
                    "ScriptMixed"));
  Run();
  const ProcId other = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
}

TEST_F(ExecutorTest, BehindThePointOfNoReturnAFailureParks) {
  const ProcId pid = Submit(WithFlavor(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::THROW, "boom")}), "ScriptNoReturn"));
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Info(pid).parked, "INTERNAL: uncaught exception: boom");
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kOperator);
  EXPECT_EQ(Abort(pid, "me", "x").error().code(), Code::kFailedPrecondition);
  NewMaster();
  Run();
  EXPECT_EQ(Info(pid).parked, "INTERNAL: uncaught exception: boom");
}

TEST_F(ExecutorTest, AbortUndoesWhereItStillCan) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")}));
  Run();
  ASSERT_TRUE(Abort(pid, "operator", "changed my mind").ok());
  Run();
  EXPECT_EQ(Outcome(pid), "failed: ABORTED: aborted by operator: changed my mind");
  EXPECT_EQ(journal_.InForce(), "");
  EXPECT_EQ(Abort(pid, "operator", "again").error().code(), Code::kFailedPrecondition);
  EXPECT_EQ(Abort(ProcId(99), "operator", "x").error().code(), Code::kNotFound);
}

// Requested while a step runs: the outcome of that step decides, and the caller receives it.
TEST_F(ExecutorTest, AnAbortThatThePointOfNoReturnOvertakesIsAnsweredSo) {
  std::vector<std::string> answers;
  const auto during = [this](const std::string& effect, std::function<void()> act) {
    journal_.SetObserver([effect, act = std::move(act)](char sign, const std::string& what, const Procedure&) {
      if (sign == '+' && what == effect) act();
    });
  };
  const auto abort = [&](ProcId pid) {
    executor().Abort(pid, {"op", "x"}, [&answers](const Status& status) {
      answers.push_back(status.ok() ? "ok" : status.error().message());
    });
  };
  const Script script = ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "f")});
  during("a3", [&] { abort(ProcId(1)); });
  const ProcId overtaken = Submit(WithFlavor(script, "ScriptMixed"));
  Run();
  EXPECT_EQ(answers, std::vector<std::string>{"pid 1 is past its point of no return"});
  EXPECT_EQ(Info(overtaken).step_name, "FOUR");
  answers.clear();
  during("a2", [&] {
    abort(ProcId(2));
    abort(ProcId(2));
    EXPECT_TRUE(answers.empty());
  });
  const ProcId undone = Submit(WithFlavor(script, "ScriptMixed"));
  Run();
  EXPECT_EQ(answers, (std::vector<std::string>{"ok", "ok"})) << "both hear it";
  EXPECT_EQ(Outcome(undone), "failed: ABORTED: aborted by op: x");
  answers.clear();
  during("c1", [&] { abort(ProcId(3)); });
  const ProcId ended = Submit(ScriptOf("c", {Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(ended), "success: c");
  EXPECT_EQ(answers, std::vector<std::string>{"pid 3 has finished"});
}

TEST_F(ExecutorTest, AbortOfAChildAbortsItsTree) {
  const Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child, child})}));
  Run();
  ASSERT_TRUE(Abort(ProcId(pid.value() + 1), "operator", "x").ok());
  Run();
  EXPECT_EQ(Outcome(pid), "failed: ABORTED: aborted by operator: x");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(ExecutorTest, ChildWithoutReturnNeedsAParentWithoutReturn) {
  const Script child = WithFlavor(ScriptOf("", {Op(Kind::NEXT)}), "ScriptNoReturn");
  const ProcId bad = Submit(ScriptOf("p", {SpawnOp({child})}));
  const ProcId good = Submit(WithFlavor(ScriptOf("q", {SpawnOp({child})}), "ScriptNoReturn"));
  Run();
  EXPECT_NE(Outcome(bad).find("point of no return"), std::string::npos);
  EXPECT_EQ(Outcome(good), "success: q");
}

TEST_F(ExecutorTest, PointOfNoReturnAfterChildrenIsPassedWhenTheyHaveSucceeded) {
  const Script bad = ScriptOf("", {Op(Kind::NEXT), Op(Kind::FAIL, "child")});
  const ProcId pid = Submit(
      WithFlavor(ScriptOf("p", {Op(Kind::NEXT), Op(Kind::NEXT), SpawnOp({bad}), Op(Kind::NEXT)}), "ScriptMixed"));
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: child");
  EXPECT_EQ(journal_.InForce(), "");
}

}  // namespace
}  // namespace ratchet::procedure
