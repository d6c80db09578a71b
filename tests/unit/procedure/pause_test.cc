// Pause and resume: what is held back, what continues, the barrier against steps in flight, durability.
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

class PauseTest : public ExecutorTest {
 protected:
  // "ok", "ok, running 1,2", the error, or "unanswered".
  std::shared_ptr<std::string> PauseLater(PauseScope scope, Millis patience = Millis{0}) {
    auto answer = std::make_shared<std::string>("unanswered");
    executor().Pause(std::move(scope), {"op", "upgrade"}, patience, [answer](const Result<PauseReport>& report) {
      *answer = report.ok() ? "ok" : report.error().ToString();
      if (!report.ok()) return;
      for (const ProcId pid : report->running) *answer += fmt::format(", {} runs", pid);
      for (const ProcId pid : report->outside) *answer += fmt::format(", {} waits outside", pid);
    });
    return answer;
  }
  std::string Pause(PauseScope scope) { return *PauseLater(std::move(scope)); }
  std::string Resume(PauseScope scope) {
    std::string answer = "unanswered";
    executor().Resume(std::move(scope), {"op", "done"},
                      [&answer](const Status& status) { answer = status.ok() ? "ok" : status.error().ToString(); });
    return answer;
  }
};

const Script kTwo = ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT)});

TEST_F(PauseTest, PausedProcedureStopsWithItsChildren) {
  const Script child = ScriptOf("", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT)});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child, child}), Op(Kind::NEXT)}));
  const ProcId other = Submit(ScriptOf("b", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Pause(PauseScope::Procedure(pid)), "ok");
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
  EXPECT_EQ(journal_.InForce(), "b1,b2,p1");
  const ProcedureInfo held = Info(ProcId(pid.value() + 2));
  EXPECT_EQ(held.paused, "pid=1 paused by op: upgrade");
  EXPECT_EQ(held.waiting.kind, WaitingOn::Kind::kPaused);
  EXPECT_EQ(Resume(PauseScope::Procedure(pid)), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: p");
  EXPECT_EQ(Info(pid).paused, "");
}

TEST_F(PauseTest, PauseOfEverythingStillAdmitsRequests) {
  const ProcId before = Submit(kTwo);
  EXPECT_EQ(Pause(PauseScope::Everything()), "ok");
  const ProcId after = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
  Run();
  EXPECT_EQ(journal_.Story(), "");
  EXPECT_EQ(disk_.Records().size(), 2U) << "both are durable";
  EXPECT_TRUE(executor().Locks().empty()) << "what is paused takes no lock that it has not had";
  ASSERT_EQ(executor().Pauses().size(), 1U);
  EXPECT_EQ(executor().Pauses()[0].ToString(), "everything paused by op: upgrade");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  EXPECT_TRUE(executor().Pauses().empty());
  Run();
  EXPECT_EQ(Outcome(before), "success: a");
  EXPECT_EQ(Outcome(after), "success: b");
}

TEST_F(PauseTest, AType) {
  const ProcId held = Submit(kTwo);
  const ProcId free = Submit(WithFlavor(ScriptOf("b", {Op(Kind::NEXT)}), "ScriptPlain"));
  EXPECT_EQ(Pause(PauseScope::Type("ScriptUndo")), "ok");
  Run();
  EXPECT_EQ(Outcome(held), "running");
  EXPECT_EQ(Outcome(free), "success: b");
  EXPECT_EQ(Pause(PauseScope::Type("Nonsense")), "INVALID_ARGUMENT: there is no procedure type Nonsense");
}

TEST_F(PauseTest, PausedTableStopsWithItsRegions) {
  const ProcId table = Submit(WithLock(ScriptOf("a", {Op(Kind::NEXT)}), "t:x", false));
  const ProcId region = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "r:x/r1", true));
  const ProcId other = Submit(WithLock(ScriptOf("c", {Op(Kind::NEXT)}), "t:y", true));
  EXPECT_EQ(Pause(PauseScope::Resource(ResourceKey::Table("x"))), "ok");
  Run();
  EXPECT_EQ(Outcome(table), "running");
  EXPECT_EQ(Outcome(region), "running");
  EXPECT_EQ(Outcome(other), "success: c");
}

TEST_F(PauseTest, CrashHandlingMayGoOn) {
  const ProcId ordinary = Submit(kTwo);
  const ProcId urgent = Submit(WithLock(ScriptOf("crash", {Op(Kind::NEXT)}), "s:server1", true));
  EXPECT_EQ(Pause({PauseScope::Kind::kOrdinary, {}, {}, {}}), "ok");
  Run();
  EXPECT_EQ(Outcome(ordinary), "running");
  EXPECT_EQ(Outcome(urgent), "success: crash");
}

// The observer runs inside the step, so the pause comes while a step is in flight.
TEST_F(PauseTest, TheCallReturnsWhenNoStepRunsAnyMore) {
  std::shared_ptr<std::string> answer;
  journal_.SetObserver([&](char sign, const std::string& effect, const Procedure&) {
    if (sign != '+' || effect != "a1") return;
    answer = PauseLater(PauseScope::Everything(), Millis{5'000});
    EXPECT_EQ(*answer, "unanswered") << "the step still runs";
  });
  const ProcId pid = Submit(kTwo);
  Run();
  EXPECT_EQ(*answer, "ok");
  EXPECT_EQ(Info(pid).step_name, "TWO") << "the outcome of the step counts, the next one does not begin";
  EXPECT_EQ(journal_.Story(), "+a1");
}

TEST_F(PauseTest, TheCallSaysWhatStillRunsWhenItsPatienceEnds) {
  std::shared_ptr<std::string> answer;
  journal_.SetObserver([&](char sign, const std::string& effect, const Procedure&) {
    if (sign != '+' || effect != "a1") return;
    answer = PauseLater(PauseScope::Everything(), Millis{5'000});
    time_.Advance(Millis{5'000});
    EXPECT_EQ(*answer, "ok, 1 runs");
    EXPECT_EQ(*PauseLater(PauseScope::Everything()), "ok, 1 runs") << "asked again, without patience";
  });
  Submit(kTwo);
  Run();
  EXPECT_EQ(*answer, "ok, 1 runs") << "answered once";
  EXPECT_EQ(journal_.Story(), "+a1");
}

TEST_F(PauseTest, WorkThatAStepHasBegunElsewhereIsNamedAndItsResultKept) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::ONCE), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Pause(PauseScope::Everything()), "ok, 1 waits outside");
  ASSERT_TRUE(journal_.FinishAsync());
  Run();
  EXPECT_EQ(journal_.Story(), "?a1");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(journal_.Story(), "?a1 +a1 +a2") << "the work was not begun again";
}

TEST_F(PauseTest, APauseIsDurableFromItsAnswerOn) {
  const ProcId pid = Submit(kTwo);
  master().store().HoldBack(true);
  const auto answer = PauseLater(PauseScope::Everything());
  EXPECT_EQ(*answer, "unanswered") << "not durable yet";
  master().store().HoldBack(false);
  master().store().ReleaseHeld();
  EXPECT_EQ(*answer, "ok");
  NewMaster();
  Run();
  EXPECT_EQ(journal_.Story(), "");
  EXPECT_EQ(Info(pid).paused, "everything paused by op: upgrade");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(PauseTest, PauseStopsAnUndo) {
  journal_.FailUndo("a1", 2);
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  Run();
  EXPECT_EQ(Pause(PauseScope::Procedure(pid)), "ok");
  while (time_.RunNext()) Run();
  EXPECT_EQ(journal_.InForce(), "a1") << "the backoff passes, the undo stands";
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kPaused);
  NewMaster();
  Run();
  EXPECT_EQ(journal_.InForce(), "a1");
  EXPECT_EQ(Resume(PauseScope::Procedure(pid)), "ok");
  RunAll();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(PauseTest, AnAbortIsRecordedAndCarriedOutAfterwards) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)}));
  ASSERT_TRUE(master().workers().RunOne());
  EXPECT_EQ(Pause(PauseScope::Everything()), "ok");
  ASSERT_TRUE(Abort(pid, "op", "enough").ok());
  Run();
  EXPECT_EQ(journal_.InForce(), "a1");
  NewMaster();
  EXPECT_TRUE(Info(pid).failing);
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "failed: ABORTED: aborted by op: enough");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(PauseTest, ATimeOutPassesAndCountsOnce) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e", 500), Op(Kind::AWAIT_EVENT, "f")}));
  Run();
  EXPECT_EQ(Pause(PauseScope::Everything()), "ok");
  time_.Advance(Millis{1'000});
  Run();
  EXPECT_EQ(Info(pid).step_name, "ONE");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  Run();
  EXPECT_EQ(Info(pid).step_name, "TWO");
}

TEST_F(PauseTest, ReportsAreAbsorbedAndAnswered) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_REPORT, "opened")}));
  Run();
  EXPECT_EQ(Pause(PauseScope::Everything()), "ok");
  EXPECT_EQ(Deliver(pid, "opened"), "taken");
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(PauseTest, PausedProcedureLeavesTheLockQueue) {
  Submit(WithLock(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}), "t:x", false, true));
  Run();
  const ProcId first = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
  const ProcId second = Submit(WithLock(ScriptOf("c", {Op(Kind::NEXT)}), "t:x", false));
  Run();
  EXPECT_EQ(Outcome(second), "running") << "behind the exclusive request";
  EXPECT_EQ(Pause(PauseScope::Procedure(first)), "ok");
  Run();
  EXPECT_EQ(Outcome(second), "success: c");
  EXPECT_EQ(Resume(PauseScope::Procedure(first)), "ok");
  EXPECT_EQ(Info(first).waiting.kind, WaitingOn::Kind::kLock);
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(first), "success: b");
}

TEST_F(PauseTest, TwoPausesOfTheSameProcedureAreIndependent) {
  const ProcId pid = Submit(kTwo);
  EXPECT_EQ(Pause(PauseScope::Everything()), "ok");
  EXPECT_EQ(Pause(PauseScope::Procedure(pid)), "ok");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  Run();
  EXPECT_EQ(journal_.Story(), "");
  EXPECT_EQ(Resume(PauseScope::Everything()), "NOT_FOUND: everything is not paused");
  EXPECT_EQ(Resume(PauseScope::Procedure(pid)), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(Pause(PauseScope::Procedure(pid)), "NOT_FOUND: no unfinished procedure has pid 1");
}

TEST_F(PauseTest, ABypassedProcedureEndsAndItsPauseGoes) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  const ProcId pid = Submit(kTwo);
  EXPECT_EQ(Pause(PauseScope::Procedure(pid)), "ok");
  std::string answer;
  executor().Bypass(pid, false, {"op", "stuck"},
                    [&answer](const Status& status) { answer = status.ok() ? "ok" : "no"; });
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  time_.Advance(Millis{1'000});
  EXPECT_TRUE(executor().Pauses().empty());
  EXPECT_EQ(executor().SystemRecords().size(), 1U) << "only who has done what";
  EXPECT_TRUE(executor().SystemRecords().contains(std::string(kPauseLogKey)));
}

// The child ended while it was being paused; its work may still be undone, and the pause covers that undo as long as it
// lasts.
TEST_F(PauseTest, APauseOfAnEndedChildOutlastsItsTree) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  const Script child = ScriptOf("", {Op(Kind::AWAIT_EVENT, "c")});
  const ProcId root = Submit(ScriptOf("p", {SpawnOp({child}), Op(Kind::AWAIT_EVENT, "e"), Op(Kind::FAIL, "no")}));
  Run();
  const PauseScope scope = PauseScope::Procedure(ProcId(root.value() + 1));
  journal_.FirstTime("event:c");
  executor().Wake({"c"});
  master().store().HoldBack(true);
  Run();  // the commit of its last step is in flight when the pause comes
  const auto answer = PauseLater(scope);
  master().store().HoldBack(false);
  master().store().ReleaseHeld();
  Run();
  ASSERT_EQ(Info(scope.pid).state, ProcState::kSuccess);
  EXPECT_EQ(*answer, "ok");
  const std::string before = journal_.InForce();
  time_.Advance(Millis{1'000});
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(journal_.InForce(), before) << "nothing of it is undone";
  EXPECT_EQ(Resume(scope), "ok");
  RunAll();
  EXPECT_EQ(journal_.InForce(), "");
  EXPECT_EQ(Outcome(root), "failed: FAILED_PRECONDITION: no");
}

TEST_F(PauseTest, AMasterMayStartPausedAndItsSuccessorKeepsToIt) {
  const ProcId pid = Submit(kTwo);
  options_.start_paused = OperatorNote{"starter", "to look first"};
  NewMaster();
  Run();
  EXPECT_EQ(journal_.Story(), "");
  EXPECT_EQ(Info(pid).paused, "everything paused by starter: to look first");
  options_.start_paused.reset();
  NewMaster();
  Run();
  EXPECT_EQ(journal_.Story(), "");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

// The log has ended pauses too, although the record of an ended pause is deleted.
TEST_F(PauseTest, WhoHasPausedAndResumedWhatAndWhyOutlivesTheMaster) {
  EXPECT_TRUE(executor().PauseLog().empty());
  EXPECT_EQ(Pause(PauseScope::Type("ScriptUndo")), "ok");
  time_.Advance(Millis{5});
  EXPECT_EQ(Resume(PauseScope::Type("ScriptUndo")), "ok");
  EXPECT_EQ(Resume(PauseScope::Type("ScriptUndo")).substr(0, 9), "NOT_FOUND")
      << "nothing was changed, nothing is recorded";
  const auto told = [this] {
    std::string text;
    for (const PauseLogEntry& entry : executor().PauseLog()) {
      text += fmt::format("{} {} by {}: {} at +{}; ", entry.resume ? "resume" : "pause", entry.what, entry.who,
                          entry.why, entry.at_ms - 1'700'000'000'000);
    }
    return text;
  };
  const std::string both = "pause type ScriptUndo by op: upgrade at +0; resume type ScriptUndo by op: done at +5; ";
  EXPECT_EQ(told(), both);
  for (int i = 0; i < 2; ++i) {
    NewMaster();
    EXPECT_EQ(told(), both);
    EXPECT_TRUE(executor().LoadProblems().empty());
  }
  options_.start_paused = OperatorNote{"the host", "a look first"};
  NewMaster();
  Run();
  EXPECT_EQ(told(), both + "pause everything by the host: a look first at +5; ");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  const std::string all = told();
  EXPECT_EQ(all, both + "pause everything by the host: a look first at +5; resume everything by op: done at +5; ");
  options_.start_paused.reset();
  NewMaster();
  EXPECT_EQ(told(), all);
  for (std::size_t i = 0; i < kPauseLogLength; ++i) {
    Pause(PauseScope::Ordinary());
    Resume(PauseScope::Ordinary());
  }
  NewMaster();
  ASSERT_EQ(executor().PauseLog().size(), kPauseLogLength) << "the newest";
  EXPECT_TRUE(executor().PauseLog().back().resume);
}

// It is reported, and does not hold anything up.
TEST_F(PauseTest, AnUnreadablePauseLogIsNamed) {
  master().store().Die();
  {
    MutexLock lock(disk_.mutex);
    disk_.system_records[std::string(kPauseLogKey)] = "garbage";
  }
  NewMaster();
  ASSERT_EQ(executor().LoadProblems().size(), 1U);
  EXPECT_NE(executor().LoadProblems().front().find("the record of pauses is lost"), std::string::npos);
  EXPECT_TRUE(executor().Pauses().empty());
  EXPECT_EQ(Pause(PauseScope::Everything()), "ok");
  EXPECT_EQ(executor().PauseLog().size(), 1U);
}

TEST_F(PauseTest, AnUnreadablePausePausesEverythingAndIsNamed) {
  const ProcId pid = Submit(kTwo);
  life_->store().Die();
  {
    MutexLock lock(disk_.mutex);
    disk_.system_records["pause/table x"] = "garbage";
  }
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  ASSERT_EQ(executor().LoadProblems().size(), 1U);
  EXPECT_EQ(executor().LoadProblems()[0], "system record pause/table x is unreadable; everything is paused");
  EXPECT_EQ(Resume(PauseScope::Everything()), "ok");
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST(PauseRecordTest, RoundTrip) {
  for (const PauseScope& scope :
       {PauseScope::Everything(), PauseScope::Ordinary(), PauseScope::Type("T"),
        PauseScope::Resource(ResourceKey::Region("ns:t", "56f9")), PauseScope::Procedure(ProcId(7))}) {
    const Result<PauseInfo> read = DecodePause(EncodePause({scope, "who", "why", 5}));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->scope, scope);
    EXPECT_EQ(read->ToString(), scope.ToString() + " paused by who: why");
  }
  EXPECT_FALSE(DecodePause("garbage").ok());
  EXPECT_FALSE(DecodePause("").ok());
}

}  // namespace
}  // namespace ratchet::procedure
