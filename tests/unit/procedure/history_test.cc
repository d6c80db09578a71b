// The step history: what it records of a run, and that it is the same after the procedure's end and for every later
// master.
#include <array>
#include <functional>

#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

// A procedure of two steps, which the test sets; both can be undone.
class Chronicled final : public StateMachineProcedure<Chronicled, testing::pb::Script> {
 public:
  static constexpr std::string_view kTypeName = "Chronicled";
  static constexpr auto Steps() {
    return std::array{On<&Chronicled::First>(1, "FIRST", UndoBy<&Chronicled::UndoFirst>()),
                      On<&Chronicled::Second>(2, "SECOND", UndoBy<&Chronicled::UndoSecond>())};
  }
  using StateMachineProcedure::StateMachineProcedure;
  using Step = std::function<StepOutcome(StepContext&)>;
  using Undo = std::function<Status(StepContext&)>;
  static inline Step first, second;
  static inline Undo undo_first, undo_second;

 private:
  StepOutcome First(StepContext& ctx) { return first(ctx); }
  StepOutcome Second(StepContext& ctx) { return second(ctx); }
  Status UndoFirst(StepContext& ctx) { return undo_first(ctx); }
  Status UndoSecond(StepContext& ctx) { return undo_second(ctx); }
};

class HistoryTest : public ExecutorTest {
 protected:
  HistoryTest() {
    registry_.Register<Chronicled>();
    Chronicled::first = [](StepContext&) -> StepOutcome { return Next{2}; };
    Chronicled::second = [](StepContext&) -> StepOutcome { return Done{}; };
    Chronicled::undo_first = Chronicled::undo_second = [](StepContext&) { return Ok(); };
  }
  ~HistoryTest() override {
    Chronicled::first = Chronicled::second = nullptr;
    Chronicled::undo_first = Chronicled::undo_second = nullptr;
  }
  ProcId SubmitOne() {
    const auto pid = executor().Submit(std::make_unique<Chronicled>());
    EXPECT_TRUE(pid.ok());
    return *pid;
  }
  // The work of a step, which takes this long. Its begin is kept in `began_`.
  void Work(Millis takes) {
    began_ = time_.WallMillis() - start_;
    time_.Advance(takes);
  }
  // "FIRST next, began 0, took 25000 us, worker 1, epoch 1; ..." with runs and error if there are any.
  std::string Told(ProcId pid) {
    std::string text;
    for (const StepHistoryEntry& entry : executor().History(pid)) {
      text += fmt::format("{}{} {}, began {}, took {} us, worker {}, epoch {}", text.empty() ? "" : "; ",
                          entry.step_name, OutcomeName(entry.outcome), entry.begin_ms - start_, entry.duration_us,
                          entry.worker, entry.epoch);
      if (entry.attempts != 1) text += fmt::format(", {} runs", entry.attempts);
      if (!entry.error.empty()) text += ", " + entry.error;
    }
    return text;
  }
  // Checks it with every later master.
  void ExpectKept(ProcId pid, const std::string& told) {
    for (int master = 0; master < 2; ++master) {
      NewMaster();
      EXPECT_EQ(Told(pid), told) << "by master " << executor().epoch().value();
      Run();
    }
  }

  const std::int64_t start_ = time_.WallMillis();
  std::int64_t began_ = 0;
};

TEST_F(HistoryTest, SaysWhenEachStepBeganHowLongItTookAndWhoRanIt) {
  Chronicled::first = [this](StepContext&) -> StepOutcome {
    Work(Millis{25});
    return Next{2};
  };
  Chronicled::second = [this](StepContext&) -> StepOutcome {
    Work(Millis{7});
    return Done{"well"};
  };
  const ProcId pid = SubmitOne();
  time_.Advance(Millis{100});  // not the time of its submission
  ASSERT_TRUE(master().workers().RunOne());
  EXPECT_EQ(Told(pid), "FIRST next, began 100, took 25000 us, worker 1, epoch 1");
  time_.Advance(Millis{1'000});
  NewMaster();
  EXPECT_EQ(Told(pid), "FIRST next, began 100, took 25000 us, worker 1, epoch 1");
  Run();
  EXPECT_EQ(Outcome(pid), "success: well");
  const std::string all =
      "FIRST next, began 100, took 25000 us, worker 1, epoch 1; "
      "SECOND done, began 1125, took 7000 us, worker 1, epoch 2";
  EXPECT_EQ(Told(pid), all);
  ExpectKept(pid, all);
}

// Runs that stored nothing are counted in the entry of the run that did; begin and duration are those of the last run.
TEST_F(HistoryTest, CountsTheRunsThatStoredNothing) {
  int runs = 0;
  Chronicled::first = [this, &runs](StepContext&) -> StepOutcome {
    Work(Millis{3});
    if (++runs < 3) return Retry{Error(Code::kUnavailable, "busy"), Millis{40}};
    if (runs < 4) return Yield{};
    return Next{2};
  };
  Chronicled::second = [this](StepContext&) -> StepOutcome {
    Work(Millis{2});
    return Done{};
  };
  const ProcId pid = SubmitOne();
  RunAll();
  const std::string all =
      "FIRST next, began 89, took 3000 us, worker 1, epoch 1, 4 runs; "
      "SECOND done, began 92, took 2000 us, worker 1, epoch 1";
  EXPECT_EQ(Told(pid), all) << "two pauses of 40 ms, three runs of 3 ms before the last";
  ExpectKept(pid, all);
}

TEST_F(HistoryTest, SaysWhyAStepFailedAndHowOftenItsUndoRan) {
  int runs = 0;
  int undos = 0;
  Chronicled::second = [this, &runs](StepContext&) -> StepOutcome {
    Work(Millis{3});
    if (++runs < 4) return Retry{Error(Code::kUnavailable, "busy"), Millis{10}};
    throw std::runtime_error("boom");
  };
  std::vector<std::uint32_t> attempts;
  Chronicled::undo_second = [&](StepContext& ctx) -> Status {
    attempts.push_back(ctx.attempt());
    Work(Millis{5});
    if (++undos < 3) return Error(Code::kUnavailable, "not yet");
    return Ok();
  };
  Chronicled::undo_first = [this](StepContext&) {
    Work(Millis{6});
    return Ok();
  };
  options_.retry = {Millis{100}, Millis{1'000}, 2.0, 0.0};
  const ProcId pid = SubmitOne();
  RunAll();
  EXPECT_EQ(Outcome(pid), "failed: INTERNAL: uncaught exception: boom");
  EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 2, 3})) << "its own, not those of the step";
  // The pauses of the undo start again too: 100 ms and 200 ms.
  const std::string all =
      "FIRST next, began 0, took 0 us, worker 1, epoch 1; "
      "SECOND exception, began 39, took 3000 us, worker 1, epoch 1, 4 runs, INTERNAL: uncaught exception: boom; "
      "SECOND undone, began 352, took 5000 us, worker 1, epoch 1, 3 runs; "
      "FIRST undone, began 357, took 6000 us, worker 1, epoch 1";
  EXPECT_EQ(Told(pid), all);
  ExpectKept(pid, all);
}

// A procedure that was failing when its master died: the undo belongs to the next master.
TEST_F(HistoryTest, AnUndoOfALaterMasterBearsItsEpoch) {
  Chronicled::second = [](StepContext&) -> StepOutcome { return Fail{Error(Code::kFailedPrecondition, "no")}; };
  Chronicled::undo_second = [](StepContext&) { return Status(Error(Code::kUnavailable, "not by this master")); };
  const ProcId pid = SubmitOne();
  Run();
  const std::string failed =
      "FIRST next, began 0, took 0 us, worker 1, epoch 1; "
      "SECOND fail, began 0, took 0 us, worker 1, epoch 1, FAILED_PRECONDITION: no";
  EXPECT_EQ(Told(pid), failed);
  NewMaster();
  Chronicled::undo_second = [](StepContext&) { return Ok(); };
  Run();
  const std::string all = failed +
                          "; SECOND undone, began 0, took 0 us, worker 1, epoch 2; "
                          "FIRST undone, began 0, took 0 us, worker 1, epoch 2";
  EXPECT_EQ(Told(pid), all);
  ExpectKept(pid, all);
}

// Bounded, newest kept; the history of a procedure that an operator ended is kept too.
TEST_F(HistoryTest, KeepsTheNewestAlsoOfWhatAnOperatorEnds) {
  options_.history_per_procedure = 2;
  int turn = 0;
  Chronicled::first = [&turn](StepContext&) -> StepOutcome { return Next{++turn < 4 ? 1U : 2U}; };
  Chronicled::second = [](StepContext&) -> StepOutcome { return Await{}; };
  const ProcId pid = SubmitOne();
  Run();
  const std::string all =
      "FIRST next, began 0, took 0 us, worker 1, epoch 1; SECOND await, began 0, took 0 us, worker 1, epoch 1";
  EXPECT_EQ(Told(pid), all);
  executor().Bypass(pid, false, {"op", "enough"}, [](const Status& status) { EXPECT_TRUE(status.ok()); });
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(Told(pid), all);
  ExpectKept(pid, all);
}

}  // namespace
}  // namespace ratchet::procedure
