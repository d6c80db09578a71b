// The state that a new master finds.
#include "common/base/mutant.h"
#include "procedure/core/record.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

TEST_F(ExecutorTest, NewMasterGoesOnFromTheLastDurableStep) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)}));
  ASSERT_TRUE(master().workers().RunOne());
  NewMaster();
  EXPECT_EQ(Info(pid).step_name, "TWO");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(journal_.Story(), "+a1 +a2 +a3");
  const auto history = executor().History(pid);
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(history[0].epoch, Epoch(1));
  EXPECT_EQ(history[1].epoch, Epoch(2));
}

TEST_F(ExecutorTest, RecoverRunsNothing) {
  Submit(ScriptOf("a", {Op(Kind::NEXT)}));
  life_->store().Die();
  life_ = std::make_unique<MasterLife>(disk_, CrashPlan{}, registry_, EnvRef::Of(journal_), time_, options_);
  ASSERT_TRUE(life_->executor().Recover().ok());
  EXPECT_FALSE(life_->workers().RunOne());
  int seen = 0;
  life_->executor().ForEach([&seen](const Procedure& procedure, const ProcedureInfo& info) {
    EXPECT_EQ(procedure.pid(), info.pid);
    ++seen;
  });
  EXPECT_EQ(seen, 1);
  life_->executor().Start();
  life_->RunUntilIdle();
  EXPECT_EQ(journal_.Story(), "+a1");
}

TEST_F(ExecutorTest, LocksAreRestoredBeforeAnythingElseRuns) {
  const ProcId holder =
      Submit(WithLock(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}), "t:x", true, true));
  Run();
  const ProcId waiter = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true, true));
  Run();
  for (int i = 0; i < 3; ++i) {
    NewMaster();
    const auto locks = executor().Locks();
    ASSERT_EQ(locks.size(), 2U);
    EXPECT_EQ(locks[1].key, ResourceKey::Table("x"));
    EXPECT_EQ(locks[1].exclusive, std::vector<ProcId>{holder});
    Run();
    EXPECT_EQ(Outcome(waiter), "running");
  }
}

TEST_F(ExecutorTest, AwaitingProceduresLookAgain) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e", 1'000)}));
  Run();
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Info(pid).waiting.next_try_in, Millis{1'000}) << "the time-out starts again (S13)";
  RunAll();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, UnknownTypeIsParkedWithItsLocks) {
  const ProcId pid = Submit(WithLock(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}), "t:x", true, true));
  Run();
  life_->store().Die();
  life_.reset();
  registry_ = ProcedureRegistry();
  NewMaster();
  Run();
  EXPECT_EQ(Info(pid).parked, "unknown procedure type ScriptUndo");
  EXPECT_EQ(executor().LoadProblems().size(), 1U);
  EXPECT_EQ(executor().Locks().size(), 2U);
  // The version that knows it continues it.
  life_->store().Die();
  life_.reset();
  RegisterScripts(registry_);
  journal_.FirstTime("event:e");
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

// Written by a version that has more states: parked, and no verb makes this version run a state that it does not know.
TEST_F(ExecutorTest, AStateThatThisVersionDoesNotKnowIsParkedAndNotRun) {
  const auto rewrite = [this](ProcId pid, const std::function<void(Durable&)>& change) {
    life_->store().Die();
    MutexLock lock(disk_.mutex);
    ProcedureUpsert& record = disk_.records.at(pid);
    DecodedRecord decoded = DecodeRecord(record.bytes).value();
    change(decoded.durable);
    record.bytes = EncodeRecord(decoded.identity, decoded.durable);
  };
  const auto unpark = [this](ProcId pid) {
    std::string answer;
    executor().Unpark(pid, {"op", "go"},
                      [&answer](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
    return answer;
  };
  const ProcId next = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}));
  const ProcId undo = Submit(ScriptOf("b", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}));
  Run();
  rewrite(next, [](Durable& durable) { durable.step = 99; });
  rewrite(undo, [](Durable& durable) { durable.undo.front().step = 98; });
  NewMaster();
  Run();
  EXPECT_EQ(Info(next).parked, "its step table has no state 99");
  EXPECT_EQ(Info(undo).parked, "its step table has no state 98");
  EXPECT_EQ(unpark(next), "its step table has no state 99");
  EXPECT_EQ(unpark(undo), "its step table has no state 98");
  std::string rerun = "no answer";
  executor().Rerun(undo, 1, {"op", "again"},
                   [&rerun](const Status& status) { rerun = status.ok() ? "ok" : status.error().message(); });
  EXPECT_EQ(rerun, "its step table has no state 98, which it would have to undo: bypass it");
  ASSERT_TRUE(Abort(undo, "op", "no more").ok());
  Run();
  EXPECT_EQ(Outcome(undo), "running") << "the steps that it has to undo are unknown";
  EXPECT_EQ(Info(undo).waiting.kind, WaitingOn::Kind::kOperator);
  executor().Bypass(undo, false, {"op", "done by hand"}, [](const Status&) {});
  executor().Rerun(next, 1, {"op", "again"}, [](const Status&) {});
  journal_.FirstTime("event:e");
  Run();
  EXPECT_EQ(Outcome(undo), "failed: ABORTED: aborted by op: no more");
  EXPECT_EQ(Outcome(next), "success: a");
}

TEST_F(ExecutorTest, OrphanIsParkedAndNamed) {
  const Script child = ScriptOf("", {Op(Kind::AWAIT_EVENT, "e")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child})}));
  Run();
  life_->store().Die();
  {
    MutexLock lock(disk_.mutex);
    disk_.records.erase(pid);
  }
  NewMaster();
  Run();
  ASSERT_EQ(executor().LoadProblems().size(), 1U);
  EXPECT_NE(executor().LoadProblems()[0].find("orphan: its parent pid=1 is missing"), std::string::npos);
  EXPECT_EQ(disk_.Records().size(), 1U) << "a load deletes nothing";
}

// A parent of two: the first child has succeeded, the second waits.
class MissingChildrenTest : public ExecutorTest {
 protected:
  ProcId SubmitParent() {
    const Script quick = ScriptOf("", {Op(Kind::NEXT)});
    const Script slow = ScriptOf("", {Op(Kind::AWAIT_EVENT, "e")});
    const ProcId pid =
        Submit(ScriptOf("p", {SpawnOp({quick, slow}), Op(Kind::AWAIT_EVENT, "end"), Op(Kind::FAIL, "late")}));
    Run();
    return pid;
  }
  void Lose(std::uint64_t pid) {
    life_->store().Die();
    {
      MutexLock lock(disk_.mutex);
      ASSERT_EQ(disk_.records.erase(ProcId(pid)), 1U);
    }
    NewMaster();
    Run();
  }
  void Happen(const std::string& event) {
    journal_.FirstTime("event:" + event);
    executor().Wake({event});
    Run();
  }
  Status Unpark(ProcId pid) {
    Status answer = Error(Code::kInternal, "unanswered");
    executor().Unpark(pid, {"op", "has looked"}, [&answer](const Status& status) { answer = status; });
    Run();
    return answer;
  }
  static constexpr const char* kWhy = "hole: pid=1 has 2 children, but the store holds 1 of them";
};

TEST_F(MissingChildrenTest, ALostChildDoesNotCountAsSucceeded) {
  const ProcId pid = SubmitParent();
  Lose(3);
  EXPECT_EQ(Info(pid).step_name, "TWO");
  EXPECT_EQ(Info(pid).parked, kWhy);
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kOperator);
  ASSERT_EQ(executor().LoadProblems().size(), 1U);
  EXPECT_EQ(executor().LoadProblems()[0], std::string("pid=1 ScriptUndo is parked: ") + kWhy);
  EXPECT_EQ(disk_.Records().size(), 2U) << "a load deletes nothing";
  NewMaster();
  Run();
  EXPECT_EQ(Info(pid).parked, kWhy) << "no master forgets it";
}

TEST_F(MissingChildrenTest, WithoutTheCheckTheParentGoesOn) {
  const ScopedMutant mutant("procedure.no_hole_check");
  const ProcId pid = SubmitParent();
  Lose(3);
  EXPECT_EQ(Info(pid).parked, "");
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kEvent) << "although its second child has never succeeded";
}

TEST_F(MissingChildrenTest, AnOperatorMayAcceptTheLoss) {
  const ProcId pid = SubmitParent();
  Lose(3);
  ASSERT_TRUE(Unpark(pid).ok());
  Happen("end");
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: late");
  EXPECT_EQ(journal_.InForce(), "") << "each recorded step was undone";
}

TEST_F(MissingChildrenTest, AnAcceptedLossIsAcceptedByTheNextMasterToo) {
  const ProcId pid = SubmitParent();
  Lose(3);
  ASSERT_TRUE(Unpark(pid).ok());
  NewMaster();
  Run();
  EXPECT_TRUE(executor().LoadProblems().empty());
  EXPECT_EQ(Info(pid).parked, "");
}

// The undo of the lost child is lost with it: the tree is not undone around it before an operator has looked.
TEST_F(MissingChildrenTest, IncompleteTreeIsNotUndoneUntilAnOperatorActs) {
  const ProcId pid = SubmitParent();
  Happen("e");
  EXPECT_EQ(Info(pid).step_name, "TWO");
  Lose(2);
  EXPECT_EQ(Info(pid).parked, kWhy);
  ASSERT_TRUE(Abort(pid, "op", "stop").ok());
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  const std::string before = journal_.InForce();
  NewMaster();
  Run();
  EXPECT_EQ(journal_.InForce(), before);
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kOperator);
  ASSERT_TRUE(Unpark(pid).ok());
  EXPECT_EQ(Outcome(pid), "failed: ABORTED: aborted by op: stop");
  EXPECT_EQ(journal_.InForce(), "p.a1") << "only the lost child's effect is left";
}

TEST_F(MissingChildrenTest, MissingGrandchildParksTheWaitingAncestor) {
  const Script leaf = ScriptOf("", {Op(Kind::NEXT)});
  const Script middle = ScriptOf("", {SpawnOp({leaf}), Op(Kind::NEXT)});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({middle}), Op(Kind::AWAIT_EVENT, "end")}));
  Run();
  Lose(3);
  EXPECT_EQ(Info(pid).parked, "hole: pid=2 has 1 children, but the store holds 0 of them");
}

TEST_F(MissingChildrenTest, RerunIsRefusedWhileChildrenAreMissing) {
  const ProcId pid = SubmitParent();
  Lose(3);
  Status answer;
  executor().Rerun(pid, 1, {"op", "again"}, [&answer](const Status& status) { answer = status; });
  Run();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message(), kWhy);
}

TEST_F(MissingChildrenTest, BypassEndsAnIncompleteTree) {
  const ProcId pid = SubmitParent();
  Lose(3);
  Status answer = Error(Code::kInternal, "unanswered");
  executor().Bypass(pid, /*recursive=*/true, {"op", "enough"}, [&answer](const Status& status) { answer = status; });
  Run();
  EXPECT_TRUE(answer.ok());
  EXPECT_EQ(Outcome(pid).substr(0, 7), "success");
}

TEST_F(ExecutorTest, UnreadableRecordIsParkedAndKept) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}));
  life_->store().Die();
  {
    MutexLock lock(disk_.mutex);
    disk_.records.at(pid).bytes = "garbage";
  }
  NewMaster();
  Run();
  EXPECT_EQ(executor().LoadProblems().size(), 1U);
  EXPECT_EQ(disk_.Records().size(), 1U);
  EXPECT_EQ(Submit(ScriptOf("b", {Op(Kind::NEXT)})), ProcId(pid.value() + 1)) << "the pid is not given again";
}

TEST_F(ExecutorTest, PidsNeverGoDown) {
  Submit(ScriptOf("a", {Op(Kind::NEXT)}));
  Run();
  {
    MutexLock lock(disk_.mutex);
    disk_.records.clear();
  }
  NewMaster();
  EXPECT_EQ(Submit(ScriptOf("b", {Op(Kind::NEXT)})), ProcId(2));
}

TEST_F(ExecutorTest, DeposedMasterStopsForGood) {
  Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT)}));
  std::string failure;
  options_.on_store_failure = [&failure](const Error& why) { failure = why.ToString(); };
  life_.reset();
  MasterLife& old = NewMaster();
  CrashStore newer(disk_, {});
  ASSERT_TRUE(newer.Claim().ok());
  old.RunUntilIdle();
  EXPECT_EQ(failure.substr(0, 6), "FENCED");
  EXPECT_FALSE(old.workers().RunOne());
}

// A procedure that an operator had parked and then aborted has an end, also for the next master.
TEST_F(ExecutorTest, AParkedProcedureThatWasAbortedHasEnded) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e")}));
  Run();
  executor().Park(pid, {"op", "looks"}, [](const Status&) {});
  ASSERT_TRUE(Abort(pid, "op", "has seen enough").ok());
  Run();
  const std::string outcome = Outcome(pid);
  EXPECT_EQ(outcome.substr(0, 7), "failed:");
  NewMaster();
  EXPECT_EQ(Outcome(pid), outcome);
  EXPECT_EQ(Info(pid).parked, "");
}

// Every member of a half undone tree is shown as waiting for the others, also by the next master.
TEST_F(ExecutorTest, MembersOfAHalfUndoneTreeWaitVisibly) {
  Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never")});
  const Script failing = ScriptOf("", {Op(Kind::AWAIT_EVENT, "go"), Op(Kind::FAIL, "x")});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child, child, failing}), Op(Kind::NEXT)}));
  for (const char* member : {"p.a", "p.b"}) {
    for (const char* step : {"1", "2", "3"}) journal_.FailUndo(std::string(member) + step, 100);
  }
  Run();
  journal_.FirstTime("event:go");
  executor().Wake({"go"});
  Run();
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  int waiting = 0;
  for (const ProcedureInfo& info : executor().List()) {
    if (info.state != ProcState::kFailed || !info.parent.valid()) continue;
    EXPECT_NE(info.waiting.kind, WaitingOn::Kind::kNone) << "pid " << info.pid.value();
    if (info.waiting.kind == WaitingOn::Kind::kSiblings) {
      const std::string chain = executor().WaitFor().Chain(info.pid);
      EXPECT_NE(chain.find(" -undo-> "), std::string::npos) << chain;
      EXPECT_NE(chain.find(" (retry)"), std::string::npos) << chain;
    }
    ++waiting;
  }
  EXPECT_GE(waiting, 2);
}

}  // namespace
}  // namespace ratchet::procedure
