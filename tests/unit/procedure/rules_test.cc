// Rules of Procedure V2 that no other test names; docs/procedure-rules.md lists rule and test.
#include <atomic>

#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

// Two steps; the first does what the test says.
class Odd final : public StateMachineProcedure<Odd, Script> {
 public:
  static constexpr std::string_view kTypeName = "Odd";
  enum class State : StepNo { kFirst = 1, kSecond = 2 };
  static constexpr auto Steps() {
    return std::array{On(State::kFirst, "FIRST", &Odd::First, UndoBy(&Odd::Undo)),
                      On(State::kSecond, "SECOND", &Odd::Second, kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  static inline std::function<StepOutcome()> first;
  static inline std::function<Status()> undo;
  static inline std::function<Status()> check_bypass;
  [[nodiscard]] Status CheckBypass() const override { return check_bypass ? check_bypass() : Ok(); }

 private:
  StepOutcome First(StepContext& /*ctx*/) { return first(); }
  StepOutcome Second(StepContext& /*ctx*/) { return Done{}; }
  Status Undo(StepContext& /*ctx*/) { return undo(); }
};

class Unregistered final : public StateMachineProcedure<Unregistered, Script> {
 public:
  static constexpr std::string_view kTypeName = "Unregistered";
  enum class State : StepNo { kOnly = 1 };
  static constexpr auto Steps() { return std::array{On(State::kOnly, "ONLY", &Unregistered::Only, kNothingToUndo)}; }
  using StateMachineProcedure::StateMachineProcedure;

 private:
  StepOutcome Only(StepContext& /*ctx*/) { return Done{}; }
};

class RulesTest : public ExecutorTest {
 protected:
  RulesTest() {
    registry_.Register<Odd>();
    Odd::undo = [] { return Ok(); };
    Odd::check_bypass = nullptr;
  }
  ProcId SubmitOdd(std::function<StepOutcome()> first) {
    Odd::first = std::move(first);
    const auto pid = executor().Submit(std::make_unique<Odd>());
    EXPECT_TRUE(pid.ok());
    return *pid;
  }
  std::string RunOdd(std::function<StepOutcome()> first) {
    const ProcId pid = SubmitOdd(std::move(first));
    Run();
    return Outcome(pid);
  }
  // Calls `act` inside the step that has `effect`.
  void During(const std::string& effect, std::function<void()> act) {
    journal_.SetObserver([effect, act = std::move(act)](char sign, const std::string& what, const Procedure&) {
      if (sign == '+' && what == effect) act();
    });
  }
};

// ---- outcomes ----

TEST_F(RulesTest, BadChildrenFailTheTree) {
  EXPECT_EQ(RunOdd([] {
              std::vector<ProcedurePtr> children;
              children.push_back(MakeScript(ScriptOf("good", {Op(Kind::NEXT)})));
              children.push_back(nullptr);
              return Spawn{2, std::move(children)};
            }),
            "failed: INVALID_ARGUMENT: cannot spawn: no procedure given");
  EXPECT_EQ(journal_.InForce(), "") << "not even the good one has run";
  EXPECT_EQ(RunOdd([] {
              std::vector<ProcedurePtr> children;
              children.push_back(std::make_unique<Unregistered>());
              return Spawn{2, std::move(children)};
            }),
            "failed: INVALID_ARGUMENT: cannot spawn: procedure type Unregistered is not registered");
  EXPECT_EQ(disk_.Records().size(), 2U) << "no child was stored";
}

TEST_F(RulesTest, AnUnknownStateFailsTheTree) {
  EXPECT_EQ(RunOdd([] { return Next{9}; }), "failed: INTERNAL: the step table has no state 9");
  EXPECT_EQ(RunOdd([] { return Next{0}; }), "failed: INTERNAL: the step table has no state 0");
  EXPECT_EQ(RunOdd([] { return Spawn{7, {}}; }), "failed: INTERNAL: the step table has no state 7");
}

TEST_F(RulesTest, WhateverIsThrownFailsTheTreeAndNotTheProcess) {
  EXPECT_EQ(RunOdd([]() -> StepOutcome { throw 7; }), "failed: INTERNAL: uncaught exception that is no std::exception");
  EXPECT_EQ(RunOdd([]() -> StepOutcome { throw std::bad_alloc(); }).substr(0, 37), "failed: INTERNAL: uncaught exception:");
}

TEST_F(RulesTest, AnUndoThatThrowsIsTriedAgainAndNotTakenForDone) {
  int tries = 0;
  Odd::undo = [&tries]() -> Status {
    if (++tries < 3) throw std::runtime_error("boom");
    return Ok();
  };
  const ProcId pid = SubmitOdd([] { return Fail{Error(Code::kFailedPrecondition, "no")}; });
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Info(pid).last_error->message(), "uncaught exception: boom");
  RunAll();
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
}

TEST_F(RulesTest, YieldLetsOthersOfItsQueueGoFirst) {
  Submit(WithFlavor(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::YIELD), Op(Kind::NEXT)}), "ScriptPlain"));
  Submit(WithFlavor(ScriptOf("b", {Op(Kind::NEXT)}), "ScriptPlain"));
  Run();
  const std::string story = journal_.Story();
  EXPECT_LT(story.find("+b1"), story.find("+a2")) << story;
}

TEST_F(RulesTest, RetriesStopGrowingAtTheCapAndTheJitterIsSeeded) {
  life_.reset();
  options_.retry = {Millis{100}, Millis{400}, 2.0, 0.1};
  const auto delays = [this] {
    std::vector<std::int64_t> all;
    const ProcId pid = Submit(ScriptOf("a", {Op(Kind::RETRY, "not yet", 6)}));
    for (int i = 0; i < 6; ++i) {
      Run();
      all.push_back(Info(pid).waiting.next_try_in->count());
      EXPECT_EQ(Info(pid).attempt, static_cast<std::uint32_t>(i + 2));
      EXPECT_TRUE(time_.RunNext());
    }
    Run();
    return all;
  };
  const std::vector<std::int64_t> first = delays();
  for (const std::int64_t delay : first) EXPECT_LE(delay, 440);
  EXPECT_GE(first[5], 360);
  EXPECT_NE(delays(), first) << "not the same jitter every time";
  life_->store().Die();
  life_.reset();
  EXPECT_EQ(delays(), first) << "the same seed, the same jitter";
}

TEST_F(RulesTest, ASpentRetryBudgetFailsTheTreeOrParksIt) {
  life_.reset();
  options_.retry_attempts = 3;
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::RETRY, "busy", 99)}));
  RunAll();
  EXPECT_EQ(Outcome(pid), "failed: UNAVAILABLE: gave up after 3 attempts: busy");
  EXPECT_EQ(executor().History(pid).at(1).attempts, 3U);
  EXPECT_EQ(journal_.InForce(), "");
  const ProcId behind = Submit(WithFlavor(ScriptOf("b", {Op(Kind::RETRY, "busy", 99)}), "ScriptNoReturn"));
  RunAll();
  EXPECT_EQ(Info(behind).parked, "failed behind the point of no return: UNAVAILABLE: gave up after 3 attempts: busy");
  // A budget of its own goes before the general one.
  int tries = 0;
  const ProcId own = SubmitOdd([&tries]() -> StepOutcome {
    ++tries;
    return Retry{Error(Code::kUnavailable, "busy"), Millis{1}, 5};
  });
  RunAll();
  EXPECT_EQ(tries, 5);
  EXPECT_EQ(Outcome(own), "failed: UNAVAILABLE: gave up after 5 attempts: busy");
}

// ---- time-outs ----

TEST_F(RulesTest, ATimeOutThatWasTakenUpDoesNotFireAgainAfterARestart) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e", 500), Op(Kind::AWAIT_EVENT, "f")}));
  Run();
  time_.Advance(Millis{500});
  ASSERT_TRUE(master().workers().RunOne());
  for (int i = 0; i < 3; ++i) {
    NewMaster();
    Run();
    time_.Advance(Millis{5'000});
    Run();
    EXPECT_EQ(Info(pid).step_name, "TWO");
  }
  EXPECT_EQ(journal_.Story(), "+a1");
}

TEST_F(RulesTest, ATimeOutThatWasNotTakenUpStartsAnew) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e", 500), Op(Kind::AWAIT_EVENT, "f")}));
  Run();
  time_.Advance(Millis{500});  // it has fired, its step has not run
  NewMaster();
  Run();
  EXPECT_EQ(Info(pid).step_name, "ONE");
  EXPECT_EQ(Info(pid).waiting.next_try_in, Millis{500});
  time_.Advance(Millis{500});
  Run();
  EXPECT_EQ(Info(pid).step_name, "TWO");
}

// ---- undoing ----

TEST_F(RulesTest, UndoingWaitsForTheStepsOfSiblingsThatRun) {
  const Script slow = ScriptOf("slow", {Op(Kind::NEXT), Op(Kind::NEXT)});
  const Script bad = ScriptOf("bad", {Op(Kind::FAIL, "no")});
  const ProcId pid = Submit(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({bad, slow}), Op(Kind::NEXT)}));
  During("slow1", [this] {
    while (master().workers().RunOne()) {  // the sibling fails meanwhile
    }
    EXPECT_EQ(journal_.Story().find('-'), std::string::npos) << journal_.Story();
  });
  Run();
  EXPECT_EQ(Outcome(pid), "failed: FAILED_PRECONDITION: no");
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(RulesTest, WhatHasNeverRunIsNeitherRunNorUndone) {
  const Script bad = ScriptOf("bad", {Op(Kind::FAIL, "no")});
  Submit(ScriptOf("p", {SpawnOp({ScriptOf("x", {Op(Kind::NEXT)}), bad, ScriptOf("y", {Op(Kind::NEXT)})})}));
  while (!Info(ProcId(1)).failing) ASSERT_TRUE(master().workers().RunOne());
  // No order among children may be relied upon, but with one worker the bad one was not the last.
  const bool x_began = journal_.InForce("x1");
  const bool y_began = journal_.InForce("y1");
  ASSERT_FALSE(x_began && y_began) << journal_.Story();
  Run();
  const std::string never = x_began ? "y" : "x";
  EXPECT_EQ(journal_.Story().find(never), std::string::npos) << journal_.Story();
  EXPECT_EQ(journal_.InForce(), "");
}

// ---- order, locks ----

TEST_F(RulesTest, AfterALoadWhatHasBegunAsksForItsLocksBeforeWhatIsNew) {  // HBASE-28263
  const ProcId holder = Submit(WithLock(ScriptOf("x", {Op(Kind::AWAIT_EVENT, "never")}), "t:x", true, true));
  Run();
  const ProcId fresh = Submit(WithLock(ScriptOf("new", {Op(Kind::NEXT)}), "t:x", true));
  const ProcId begun = Submit(WithLock(ScriptOf("begun", {Op(Kind::NEXT)}), "t:x", true));
  Run();
  EXPECT_EQ(Deliver(begun, "noise"), "taken");
  ASSERT_LT(fresh, begun);
  life_->store().Die();
  {
    MutexLock lock(disk_.mutex);
    disk_.records.erase(holder);
  }
  NewMaster();
  Run();
  EXPECT_EQ(journal_.Story(), "+begun1 +new1");
}

TEST_F(RulesTest, DescendantsOfAnUrgentProcedureAreUrgent) {
  const Script child = WithLock(ScriptOf("c", {Op(Kind::NEXT)}), "r:x/r1", true);
  Submit(WithLock(ScriptOf("crash", {SpawnOp({child}), Op(Kind::NEXT)}), "s:server1", true, true));
  Submit(WithLock(ScriptOf("user", {Op(Kind::NEXT)}), "t:y", true));
  while (master().workers().RunOneUrgent()) {
  }
  EXPECT_EQ(journal_.Story(), "+crash1 +c1 +crash2") << "on the reserved capacity alone";
}

// The one deadlock that the order of locks cannot exclude (deadlock.h): a succeeded child leaves its lock with its parent (S16)
// while its sibling waits for an earlier one. The tree that keeps such locks is undone; the ring is named.
TEST_F(RulesTest, ATreeThatWaitsBackwardsGivesWay) {
  const ProcId straight = Submit(WithLock(
      ScriptOf("q", {Op(Kind::AWAIT_EVENT, "go"), SpawnOp({WithLock(ScriptOf("d", {Op(Kind::NEXT)}), "t:b", true)})}), "t:a",
      true, true));
  const ProcId backwards = Submit(ScriptOf("p", {SpawnOp({WithLock(ScriptOf("c1", {Op(Kind::NEXT)}), "t:b", true),
                                                          WithLock(ScriptOf("c2", {Op(Kind::NEXT)}), "t:a", true)})}));
  Run();
  EXPECT_EQ(Outcome(backwards), "running") << "one child done, the other in line";
  EXPECT_TRUE(executor().WaitFor().cycles.empty());
  journal_.FirstTime("event:go");
  executor().Wake({"go"});
  Run();
  EXPECT_EQ(Outcome(straight), "success: q");
  EXPECT_EQ(Outcome(backwards).substr(0, 59), "failed: ABORTED: aborted by the lock manager: deadlock: pid");
  EXPECT_EQ(journal_.InForce(), "d1,q1,q2");
  EXPECT_TRUE(executor().Locks().empty());
}

// ---- verbs ----

TEST_F(RulesTest, VerbsQueueBehindTheStepThatRuns) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)}));
  std::string answer = "unanswered";
  During("a1", [&] {
    executor().Bypass(pid, false, {"op", "x"}, [&answer](const Status& status) { answer = status.ok() ? "ok" : "refused"; });
    EXPECT_EQ(answer, "unanswered");
  });
  Run();
  EXPECT_EQ(answer, "ok");
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(journal_.InForce(), "a1") << "the step that ran counts, the next one does not run";
}

TEST_F(RulesTest, AnOrderThatIsNotSettledRefusesItsBypassWithTheReason) {  // S17
  Odd::check_bypass = [] { return Status(Error(Code::kFailedPrecondition, "its order is not settled")); };
  const ProcId pid = SubmitOdd([] { return Await{}; });
  Run();
  std::string answer;
  executor().Bypass(pid, false, {"op", "x"}, [&answer](const Status& status) { answer = status.error().message(); });
  EXPECT_EQ(answer, "its order is not settled");
  EXPECT_EQ(Outcome(pid), "running");
}

TEST_F(RulesTest, AbortIsHonouredBeforeThePointOfNoReturnAndRefusedBehindItWithTheReason) {
  const Script script = ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "f")});
  const ProcId before = Submit(WithFlavor(script, "ScriptMixed"));
  Run();
  ASSERT_TRUE(executor().Abort(before, "op", "x").ok());
  Run();
  EXPECT_EQ(Outcome(before), "failed: ABORTED: aborted by op: x");
  EXPECT_EQ(journal_.InForce(), "");
  const ProcId behind = Submit(WithFlavor(script, "ScriptMixed"));
  journal_.FirstTime("event:e");
  Run();
  EXPECT_EQ(Info(behind).step_name, "FOUR");
  EXPECT_EQ(executor().Abort(behind, "op", "x").error().message(), "pid 2 is behind its point of no return");
  EXPECT_EQ(Outcome(behind), "running");
}

// ---- results, nonces (HBASE-19756, HBASE-19996) ----

TEST_F(RulesTest, NoncesOfFailedAndRefusedRequestsGoToo) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  options_.result_ttl = Millis{60'000};
  const ProcId failed = Submit(ScriptOf("a", {Op(Kind::FAIL, "no")}), {1, 1});
  Run();
  EXPECT_EQ(Submit(ScriptOf("a", {Op(Kind::NEXT)}), {1, 1}), failed);
  int checks = 0;
  SubmitOptions refused;
  refused.nonce = {1, 2};
  refused.pre_check = [&checks] {
    ++checks;
    return Status(Error(Code::kAlreadyExists, "table exists"));
  };
  EXPECT_FALSE(executor().Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})), refused).ok());
  time_.Advance(Millis{62'000});
  EXPECT_EQ(Outcome(failed), "not found");
  EXPECT_FALSE(executor().FindNonce({1, 1}).has_value());
  EXPECT_NE(Submit(ScriptOf("a", {Op(Kind::NEXT)}), {1, 1}), failed) << "a new request";
  EXPECT_FALSE(executor().Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})), refused).ok());
  EXPECT_EQ(checks, 2) << "checked anew";
}

TEST_F(RulesTest, TheOldestResultsGoWhenThereAreTooMany) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  options_.max_results = 2;
  std::vector<ProcId> pids;
  for (std::uint64_t i = 1; i <= 5; ++i) pids.push_back(Submit(ScriptOf("a", {Op(Kind::NEXT)}), {2, i}));
  const ProcId live = Submit(ScriptOf("b", {Op(Kind::AWAIT_EVENT, "never")}), {2, 9});
  Run();
  time_.Advance(Millis{1'000});
  EXPECT_EQ(Outcome(pids[2]), "not found");
  EXPECT_EQ(Outcome(pids[3]), "success: a");
  EXPECT_EQ(Outcome(pids[4]), "success: a");
  EXPECT_FALSE(executor().FindNonce({2, 1}).has_value());
  EXPECT_EQ(executor().FindNonce({2, 9}), live) << "what has not finished stays";
  NewMaster();
  EXPECT_EQ(Outcome(pids[0]), "not found");
}

// ---- workers that are stuck ----

TEST_F(RulesTest, TheMonitorAddsAWorkerWhenAllAreStuckAndWorkWaits) {
  CrashStore store(disk_, {});
  ManualTime time;
  auto workers = MakeThreadWorkers({1, 0, 4, "PEWorker"});
  Executor::Options options;
  options.log_steps = false;
  options.stuck_check_interval = Millis{5'000};
  options.stuck_threshold = Millis{10'000};
  Executor executor({store, registry_, *workers, time, time, EnvRef::Of(journal_)}, options);
  std::atomic<bool> inside = false, go_on = false;
  const auto wait_for = [](const std::atomic<bool>& what) {
    Mutex mutex;
    CondVar cond;
    MutexLock lock(mutex);
    for (int i = 0; i < 60'000 && !what; ++i) cond.WaitFor(mutex, std::chrono::milliseconds(1));
    EXPECT_TRUE(what);
  };
  During("a1", [&] { wait_for((inside = true, go_on)); });
  ASSERT_TRUE(executor.Recover().ok());
  executor.Start();
  ASSERT_TRUE(executor.Submit(MakeScript(ScriptOf("a", {Op(Kind::NEXT)}))).ok());
  wait_for(inside);
  std::atomic<bool> finished = false;
  const auto other = executor.Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})));
  executor.OnFinished(*other, [&finished](const ProcedureResult&) { finished = true; });
  time.Advance(Millis{5'000});
  EXPECT_EQ(workers->size(), 1U) << "not stuck yet";
  time.Advance(Millis{5'000});
  wait_for(finished);
  EXPECT_EQ(workers->size(), 2U);
  go_on = true;
  executor.Stop();
}

}  // namespace
}  // namespace ratchet::procedure
