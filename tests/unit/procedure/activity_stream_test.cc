// The activity stream, the hooks and the counters: the notifications about procedures.
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

TEST(ActivityStreamTest, SlowReaderGetsTheNumberOfMissedEntries) {
  ActivityStream stream(4);
  for (std::uint64_t i = 1; i <= 10; ++i) stream.Add({0, ActivityKind::kStep, ProcId(i), ProcId(i), "T", "S", {}});
  ActivityBatch batch = stream.After(3, 100);
  EXPECT_EQ(batch.lost, 3U) << "4, 5 and 6";
  ASSERT_EQ(batch.events.size(), 4U);
  EXPECT_EQ(batch.events.front().sequence, 7U);
  EXPECT_EQ(batch.events.front().pid, ProcId(7));
  EXPECT_EQ(batch.events.back().sequence, 10U);
  EXPECT_EQ(batch.last, 10U);
  batch = stream.After(8, 1);
  EXPECT_EQ(batch.lost, 0U);
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_EQ(batch.events.front().sequence, 9U);
  batch = stream.After(10, 100);
  EXPECT_EQ(batch.lost, 0U);
  EXPECT_TRUE(batch.events.empty());
  EXPECT_TRUE(stream.After(999, 100).events.empty()) << "a number from another life";
}

TEST(ActivityStreamTest, WithoutRoomEverythingIsLostAndSaidSo) {
  ActivityStream stream(0);
  stream.Add({});
  EXPECT_EQ(stream.After(0, 10).lost, 1U);
  EXPECT_FALSE(stream.enabled());
}

class EventsTest : public ExecutorTest {
 protected:
  // "1 submitted ONE, 1 step ONE next, ..."
  std::string Story() {
    std::string text;
    for (const Activity& event : executor().Activities(0, 1000).events) {
      if (!text.empty()) text += ", ";
      text += event.pid.valid() ? fmt::format("{} ", event.pid) : "";
      text += ActivityName(event.kind);
      for (const std::string& part : {event.step, event.detail}) text += part.empty() ? "" : " " + part;
    }
    return text;
  }
};

TEST_F(EventsTest, ASuccessfulTree) {
  Submit(ScriptOf("p", {SpawnOp({ScriptOf("", {Op(Kind::RETRY, "busy", 1)})}), Op(Kind::AWAIT_EVENT, "e", 100)}));
  RunAll();
  EXPECT_EQ(Story(),
            "1 submitted ONE, 1 step ONE spawn, 2 spawned ONE, 2 retry ONE UNAVAILABLE: busy, 2 step ONE done, "
            "2 ended ONE success, 1 step TWO await, 1 suspended TWO, 1 step TWO done, 1 ended TWO success");
  const ActivityBatch batch = executor().Activities(0, 1000);
  EXPECT_EQ(batch.events[2].root, ProcId(1));
  EXPECT_EQ(batch.events[2].type, "ScriptUndo");
}

TEST_F(EventsTest, AFailureIsUndone) {
  journal_.FailUndo("a1", 1);
  Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  RunAll();
  EXPECT_EQ(Story(),
            "1 submitted ONE, 1 step ONE next, 1 step TWO fail, 1 failed TWO FAILED_PRECONDITION: no, 1 undone TWO, "
            "1 undo failed ONE UNAVAILABLE: undo of a1 fails for now, 1 undone ONE, "
            "1 ended TWO FAILED_PRECONDITION: no");
}

TEST_F(EventsTest, VerbsPausesAndParking) {
  const ProcId pid = Submit(WithFlavor(ScriptOf("a", {Op(Kind::THROW, "boom"), Op(Kind::NEXT)}), "ScriptNoReturn"));
  executor().Pause(PauseScope::Everything(), {"op", "x"}, Millis{0}, [](const Result<PauseReport>&) {});
  executor().Resume(PauseScope::Everything(), {"op", "y"}, [](const Status&) {});
  Run();
  executor().Rerun(pid, *executor().FindStep(pid, "TWO"), {"op", "skip"}, [](const Status&) {});
  Run();
  EXPECT_EQ(Story(),
            "1 submitted ONE, paused everything by op: x, resumed everything by op: y, 1 step ONE exception, "
            "1 parked ONE INTERNAL: uncaught exception: boom, 1 verb TWO rerun by op: skip, 1 step TWO done, "
            "1 ended TWO success");
}

TEST_F(EventsTest, EventsFollowDurability) {
  master().store().HoldBack(true);
  executor().SubmitAsync(MakeScript(ScriptOf("a", {Op(Kind::NEXT)})), {}, [](const Result<ProcId>&) {});
  EXPECT_EQ(Story(), "");
  master().store().HoldBack(false);
  master().store().ReleaseHeld();
  EXPECT_EQ(Story(), "1 submitted ONE");
}

// A reader that has seen all events waits for the next events, which come together, for its time-out, or for the end of
// the stream.
TEST_F(EventsTest, AReaderWaitsForWhatComesNext) {
  std::vector<std::string> answers;
  const auto watch = [&](std::uint64_t after, Millis patience) {
    executor().WatchActivity(after, 100, patience, [&answers](const ActivityBatch& batch) {
      answers.push_back(fmt::format("{} up to {}, {} lost", batch.events.size(), batch.last, batch.lost));
    });
  };
  watch(0, Millis{1'000});
  EXPECT_EQ(answers.size(), 0U);
  time_.Advance(Millis{500});
  Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(answers.size(), 0U) << "others may follow at once";
  time_.Advance(Millis{100});
  EXPECT_EQ(answers, (std::vector<std::string>{"4 up to 4, 0 lost"}));
  watch(2, Millis{1'000});  // not up to date: no wait
  EXPECT_EQ(answers.back(), "2 up to 4, 0 lost");
  watch(4, Millis{0});
  EXPECT_EQ(answers.back(), "0 up to 4, 0 lost");
  watch(4, Millis{1'000});
  time_.Advance(Millis{999});
  EXPECT_EQ(answers.size(), 3U);
  time_.Advance(Millis{1});
  EXPECT_EQ(answers.size(), 4U) << "its patience has ended, and not that of the first question before";
  EXPECT_EQ(answers.back(), "0 up to 4, 0 lost");
  watch(99, Millis{1'000});
  Submit(ScriptOf("b", {Op(Kind::NEXT)}));
  time_.Advance(Millis{100});
  EXPECT_EQ(answers.back(), "1 up to 5, 0 lost") << "a number from another life counts as the newest";
  Run();
  watch(executor().Activities(0, 1).last, Millis{1'000});
  const std::size_t before = answers.size();
  executor().Stop();
  EXPECT_EQ(answers.size(), before + 1) << "nobody waits for an executor that has stopped";
}

// While it waits, or between two requests, the ring buffer may wrap: the reader gets the number of lost events at once.
TEST_F(EventsTest, SlowReaderIsNotifiedOfLostEvents) {
  life_.reset();
  options_.activity_capacity = 4;
  std::vector<std::string> answers;
  const auto watch = [&](std::uint64_t after) {
    executor().WatchActivity(after, 100, Millis{1'000}, [&answers](const ActivityBatch& batch) {
      answers.push_back(fmt::format("{} up to {}, {} lost", batch.events.size(), batch.last, batch.lost));
    });
  };
  watch(0);
  Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT)}));
  Submit(ScriptOf("b", {Op(Kind::NEXT), Op(Kind::NEXT)}));
  Run();
  time_.Advance(Millis{100});
  EXPECT_EQ(answers, (std::vector<std::string>{"4 up to 8, 4 lost"}));
  watch(1);
  EXPECT_EQ(answers.back(), "4 up to 8, 3 lost");
}

TEST_F(EventsTest, StatesAreFoundByNameAndNumber) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}));
  EXPECT_EQ(*executor().FindStep(pid, "THREE"), 3U);
  EXPECT_EQ(*executor().FindStep(pid, "3"), 3U);
  EXPECT_EQ(executor().FindStep(pid, "SEVEN").error().message(),
            "ScriptUndo has no state 'SEVEN', only ONE, TWO, THREE, FOUR, FIVE, SIX");
  EXPECT_EQ(executor().FindStep(ProcId(9), "ONE").error().code(), Code::kNotFound);
}

// ---- hooks ----

struct HookLog {
  std::vector<std::string> lines;
};

// Succeeds, or fails when its data requests that; records the calls of its hooks.
class Hooked final : public StateMachineProcedure<Hooked, testing::pb::Script> {
 public:
  static constexpr std::string_view kTypeName = "Hooked";
  static constexpr auto Steps() { return std::array{On<&Hooked::Only>(1, "ONLY", kNothingToUndo)}; }
  using StateMachineProcedure::StateMachineProcedure;
  static inline HookLog* log = nullptr;
  void OnSubmitted() const override { log->lines.push_back("submitted " + data_.name()); }
  void OnFinished(const FinishInfo& info) const override {
    log->lines.push_back(data_.name() + (info.success ? " succeeded" : " failed: " + info.error->message()) +
                         fmt::format(" in {} ms", info.duration.count()));
  }

 private:
  StepOutcome Only(StepContext& ctx) {
    if (data_.ops_size() == 0) return Done{};
    if (data_.ops(0).kind() == testing::pb::ScriptOp::RETRY && ctx.attempt() == 1)
      return Retry{Error(Code::kUnavailable, "x"), Millis{40}};
    if (data_.ops(0).kind() == testing::pb::ScriptOp::THROW) throw std::runtime_error("boom");
    return Fail{Error(Code::kFailedPrecondition, "no")};
  }
};

// HBASE-19953: the hook after the end is called on failure too.
TEST_F(EventsTest, HooksAreCalledAtTheEndOnFailureToo) {
  HookLog log;
  Hooked::log = &log;
  registry_.Register<Hooked>();
  for (const Script& script :
       {ScriptOf("good", {}), ScriptOf("bad", {Op(Kind::RETRY)}), ScriptOf("worse", {Op(Kind::THROW)})}) {
    ASSERT_TRUE(executor().Submit(std::make_unique<Hooked>(script)).ok());
    RunAll();
  }
  EXPECT_EQ(log.lines, (std::vector<std::string>{"submitted good", "good succeeded in 0 ms", "submitted bad",
                                                 "bad failed: no in 40 ms", "submitted worse",
                                                 "worse failed: uncaught exception: boom in 0 ms"}));
  const std::vector<TypeMetrics> metrics = executor().Metrics();
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].failed, 2U);
  EXPECT_EQ(metrics[0].duration_ms_log2.at(6), 1U) << "40 ms lie below 64 and not below 32";
  EXPECT_EQ(metrics[0].duration_ms_log2.at(0), 2U);
}

TEST_F(EventsTest, ListenersSeeEveryProcedureOnce) {
  struct Listener final : ProcedureListener {
    std::vector<std::string> lines;
    void OnAdded(const ProcedureInfo& info) override { lines.push_back(fmt::format("+{}", info.pid)); }
    void OnFinished(const ProcedureInfo& info) override {
      lines.push_back(fmt::format("-{} {}", info.pid, ProcStateName(info.state)));
    }
  };
  const auto listener = std::make_shared<Listener>();
  life_ = std::make_unique<MasterLife>(disk_, CrashPlan{}, registry_, EnvRef::Of(journal_), time_, options_);
  life_->executor().AddListener(listener);
  ASSERT_TRUE(life_->Begin());
  Submit(ScriptOf("p", {SpawnOp({ScriptOf("", {Op(Kind::NEXT)})}), Op(Kind::FAIL, "no")}));
  Run();
  EXPECT_EQ(listener->lines, (std::vector<std::string>{"+1", "+2", "-2 SUCCESS", "-1 ROLLEDBACK"}));
}

}  // namespace
}  // namespace ratchet::procedure
