// Rules of Procedure V2 that no other test names; docs/procedure-rules.md lists rule and test.
#include <atomic>

#include "common/base/mutant.h"
#include "procedure/api/rerun_policy.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

// A procedure of two steps; the test sets the first one.
class Odd final : public StateMachineProcedure<Odd, Script>, public FromAnywhere {
 public:
  static constexpr std::string_view kTypeName = "Odd";
  static constexpr auto Steps() {
    return std::array{On<&Odd::First>(1, "FIRST", UndoBy<&Odd::Undo>()), On<&Odd::Second>(2, "SECOND", kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  static inline std::function<StepOutcome()> first;
  static inline std::function<Status()> undo;
  static inline std::function<Status()> check_bypass;
  static inline std::function<void()> absorbing;
  static inline bool timed_out = false;
  [[nodiscard]] Status CheckBypass() const override { return check_bypass ? check_bypass() : Ok(); }
  [[nodiscard]] Absorbed Absorb(std::string_view /*message*/) override {
    if (absorbing) absorbing();
    return Absorbed::Taken();
  }

 private:
  StepOutcome First(StepContext& ctx) {
    timed_out = ctx.timed_out();
    return first();
  }
  StepOutcome Second(StepContext& /*ctx*/) { return Done{}; }
  Status Undo(StepContext& /*ctx*/) { return undo(); }
};

class Unregistered final : public StateMachineProcedure<Unregistered, Script> {
 public:
  static constexpr std::string_view kTypeName = "Unregistered";
  static constexpr auto Steps() { return std::array{On<&Unregistered::Only>(1, "ONLY", kNothingToUndo)}; }
  using StateMachineProcedure::StateMachineProcedure;

 private:
  StepOutcome Only(StepContext& /*ctx*/) { return Done{}; }
};

// Its host meets the needs of the first row at the third try.
class Needy final : public StateMachineProcedure<Needy, Script> {
 public:
  static constexpr std::string_view kTypeName = "Needy";
  static constexpr StepNeeds kOne{1};
  static constexpr StepNeeds kTwo{2};
  static constexpr auto Steps() {
    return std::array{On<&Needy::First>(1, "FIRST", kNothingToUndo, kOne | kTwo),
                      On<&Needy::Second>(2, "SECOND", kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  static inline std::vector<std::string> calls;

 private:
  std::optional<StepOutcome> Require(StepNeeds needs, StepContext& /*ctx*/) override {
    calls.push_back(Includes(needs, kOne) && Includes(needs, kTwo) ? "both" : "other");
    if (calls.size() < 3) return Yield{};
    return std::nullopt;
  }
  StepOutcome First(StepContext& /*ctx*/) {
    calls.emplace_back("first");
    return GoTo<&Needy::Second>();
  }
  StepOutcome Second(StepContext& /*ctx*/) {
    calls.emplace_back("second");
    return Done{};
  }
};

class RulesTest : public ExecutorTest {
 protected:
  RulesTest() {
    registry_.Register<Odd>();
    Odd::undo = [] { return Ok(); };
    Odd::check_bypass = nullptr;
    Odd::absorbing = nullptr;
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

// ---- the step table ----

TEST_F(RulesTest, StepRunsOnlyWhenItsNeedsAreMet) {
  registry_.Register<Needy>();
  Needy::calls.clear();
  const auto pid = executor().Submit(std::make_unique<Needy>());
  ASSERT_TRUE(pid.ok());
  Run();
  EXPECT_EQ(Outcome(*pid), "success: ");
  EXPECT_EQ(Needy::calls, (std::vector<std::string>{"both", "both", "both", "first", "second"}));
}

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
  EXPECT_EQ(RunOdd([]() -> StepOutcome { throw 7; }),
            "failed: INTERNAL: uncaught exception that is not a std::exception");
  EXPECT_EQ(RunOdd([]() -> StepOutcome { throw std::bad_alloc(); }).substr(0, 37),
            "failed: INTERNAL: uncaught exception:");
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
  EXPECT_EQ(Info(behind).parked, "failed after the point of no return: UNAVAILABLE: gave up after 3 attempts: busy");
  // Its own budget takes precedence over the general one.
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

// The time passes while a report is being absorbed: the report came first, and the step sees only the report.
TEST_F(RulesTest, AReportThatCameBeforeTheTimeWasUpIsNoTimeOut) {
  int runs = 0;
  const ProcId pid = SubmitOdd([&runs]() -> StepOutcome {
    if (++runs == 1) return Await{std::nullopt, Millis{500}};
    return Next{2};
  });
  Run();
  Odd::absorbing = [this] { time_.Advance(Millis{500}); };
  EXPECT_EQ(Deliver(pid, "report"), "taken");
  Run();
  EXPECT_EQ(runs, 2);
  EXPECT_FALSE(Odd::timed_out);
  EXPECT_EQ(Outcome(pid), "success: ");
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

// ---- verbs ----

TEST_F(RulesTest, VerbsQueueBehindTheStepThatRuns) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)}));
  std::string answer = "unanswered";
  During("a1", [&] {
    executor().Bypass(pid, false, {"op", "x"},
                      [&answer](const Status& status) { answer = status.ok() ? "ok" : "refused"; });
    EXPECT_EQ(answer, "unanswered");
  });
  Run();
  EXPECT_EQ(answer, "ok");
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(journal_.InForce(), "a1") << "the step that ran counts, the next one does not run";
}

TEST_F(RulesTest, AnOrderThatIsNotSettledRefusesItsBypassWithTheReason) {  // S17 (answer or fence settles an order)
  Odd::check_bypass = [] { return Status(Error(Code::kFailedPrecondition, "its order is not settled")); };
  const ProcId pid = SubmitOdd([] { return Await{}; });
  Run();
  std::string answer;
  executor().Bypass(pid, false, {"op", "x"}, [&answer](const Status& status) { answer = status.error().message(); });
  EXPECT_EQ(answer, "pid 1: its order is not settled");
  EXPECT_EQ(Outcome(pid), "running");
  // A refusal leaves its parents unchanged.
  const ProcId parent = SubmitOdd([]() -> StepOutcome {
    std::vector<ProcedurePtr> children;
    children.push_back(std::make_unique<Odd>());
    Odd::first = [] { return Await{}; };
    return Spawn{2, std::move(children)};
  });
  Run();
  for (const bool recursive : {false, true}) {
    const ProcId which(parent.value() + (recursive ? 0 : 1));
    answer.clear();
    executor().Bypass(which, recursive, {"op", "x"},
                      [&answer](const Status& status) { answer = status.error().message(); });
    EXPECT_NE(answer.find("its order is not settled"), std::string::npos) << answer;
  }
  Run();
  EXPECT_FALSE(Info(parent).bypassed);
  EXPECT_TRUE(Info(parent).verbs.empty());
}

TEST_F(RulesTest, WhereABypassIsRefusedARerunIsRefused) {  // S17
  Odd::check_bypass = [] { return Status(Error(Code::kFailedPrecondition, "its order is not settled")); };
  const ProcId pid = SubmitOdd([] { return Await{}; });
  Run();
  std::string answer;
  executor().Rerun(pid, 2, {"op", "x"},
                   [&answer](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
  Run();
  EXPECT_EQ(answer, "its order is not settled");
  EXPECT_TRUE(Info(pid).verbs.empty());
  const ScopedMutant mutant("procedure.rerun_unsettled");
  executor().Rerun(pid, 2, {"op", "x"},
                   [&answer](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
  Run();
  EXPECT_EQ(answer, "ok");
}

TEST_F(RulesTest, AbortIsHonouredBeforeThePointOfNoReturnAndRefusedBehindItWithTheReason) {
  const Script script =
      ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "f")});
  const ProcId before = Submit(WithFlavor(script, "ScriptMixed"));
  Run();
  ASSERT_TRUE(Abort(before, "op", "x").ok());
  Run();
  EXPECT_EQ(Outcome(before), "failed: ABORTED: aborted by op: x");
  EXPECT_EQ(journal_.InForce(), "");
  const ProcId behind = Submit(WithFlavor(script, "ScriptMixed"));
  journal_.FirstTime("event:e");
  Run();
  EXPECT_EQ(Info(behind).step_name, "FOUR");
  EXPECT_EQ(Abort(behind, "op", "x").error().message(), "pid 2 is past its point of no return");
  EXPECT_EQ(Outcome(behind), "running");
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
