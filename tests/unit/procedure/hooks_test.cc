// Hooks, listeners and callbacks: for which events they are called, in which order, under no lock, and what they may
// do.
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

// A procedure with one step. Its script sets what the step, the hooks and the check do.
class Watched final : public StateMachineProcedure<Watched, Script> {
 public:
  static constexpr std::string_view kTypeName = "Watched";
  static constexpr auto Steps() {
    return std::array{On<&Watched::Work>(1, "WORK", UndoBy<&Watched::Undo>()),
                      On<&Watched::Next>(2, "NEXT", kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;
  static inline std::function<StepOutcome(const std::string& name)> work;
  static inline std::function<Status()> undo;
  static inline std::function<void(const Watched&)> submitted;
  static inline std::function<void(const Watched&, const FinishInfo&)> finished;
  static inline std::function<Status(const std::string& name)> check;
  void OnSubmitted() const override {
    if (submitted) submitted(*this);
  }
  void OnFinished(const FinishInfo& info) const override {
    if (finished) finished(*this, info);
  }
  [[nodiscard]] Status CheckInitial() const override { return check ? check(data_.name()) : Ok(); }
  static ProcedurePtr Named(const std::string& name) {
    Script script;
    script.set_name(name);
    return std::make_unique<Watched>(std::move(script));
  }

 private:
  StepOutcome Work(StepContext&) { return work(data_.name()); }
  StepOutcome Next(StepContext&) { return Done{}; }
  Status Undo(StepContext&) { return undo ? undo() : Ok(); }
};

struct Told final : ProcedureListener {
  std::function<void(const ProcedureInfo&)> added, finished;
  void OnAdded(const ProcedureInfo& info) override {
    if (added) added(info);
  }
  void OnFinished(const ProcedureInfo& info) override {
    if (finished) finished(info);
  }
};

class HooksTest : public ExecutorTest {
 protected:
  HooksTest() {
    registry_.Register<Watched>();
    Watched::work = [](const std::string&) -> StepOutcome { return Done{}; };
  }
  ~HooksTest() override {
    Watched::work = nullptr;
    Watched::undo = nullptr;
    Watched::submitted = nullptr;
    Watched::finished = nullptr;
    Watched::check = nullptr;
  }
  // A master whose listener is `told_`.
  void Listen() {
    if (life_) life_->store().Die();
    life_ = std::make_unique<MasterLife>(disk_, CrashPlan{}, registry_, EnvRef::Of(journal_), time_, options_);
    life_->executor().AddListener(told_);
    ASSERT_TRUE(life_->Begin());
  }
  ProcId SubmitWatched(const std::string& name) {
    const auto pid = executor().Submit(Watched::Named(name));
    EXPECT_TRUE(pid.ok());
    return pid.ok() ? *pid : ProcId();
  }
  TypeMetrics Counters() {
    for (TypeMetrics& metrics : executor().Metrics()) {
      if (metrics.type == "Watched") return metrics;
    }
    return {};
  }
  const std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

// Every view and every asynchronous member; a member that waits returns an error, because it would wait for its own
// thread.
TEST_F(HooksTest, MayCallTheExecutor) {
  int calls = 0;
  bool again = true;
  const auto call_everything = [&](ProcId pid) {
    ++calls;
    EXPECT_TRUE(executor().Get(pid).has_value());
    EXPECT_FALSE(executor().List().empty());
    EXPECT_FALSE(executor().Tree(pid).empty());
    EXPECT_TRUE(executor().WaitFor().cycles.empty());
    EXPECT_FALSE(executor().Activities(0, 100).events.empty());
    EXPECT_FALSE(executor().Metrics().empty());
    IgnoreResult(Result<std::size_t>(executor().Locks().size() + executor().History(pid).size()),
                 "they only must not hang");
    executor().Wake({"somebody"});
    executor().Ack(pid);
    const auto submitted = executor().Submit(Watched::Named("waits"));
    ASSERT_FALSE(submitted.ok());
    EXPECT_EQ(submitted.error().code(), Code::kFailedPrecondition);
    if (!std::exchange(again, false)) return;
    executor().SubmitAsync(Watched::Named("second"), {}, [](const Result<ProcId>& other) { EXPECT_TRUE(other.ok()); });
  };
  Watched::submitted = [&](const Watched& self) { call_everything(self.pid()); };
  Watched::finished = [&](const Watched& self, const FinishInfo&) { call_everything(self.pid()); };
  told_->added = told_->finished = [&](const ProcedureInfo& info) { call_everything(info.pid); };
  Listen();
  executor().OnFinished(SubmitWatched("first"), [&](const ProcedureResult&) { call_everything(ProcId(1)); });
  Run();
  EXPECT_EQ(calls, 9) << "two procedures, hook and listener of each at its begin and end, and who waited";
  EXPECT_EQ(Counters().submitted, 2U);
}

// The order of events is kept, also for a hook that the call of another hook has caused, and for ends in one commit.
TEST_F(HooksTest, ListenersAreCalledSeriallyInCommitOrder) {
  std::vector<std::string> lines;
  bool inside = false;
  const auto note = [&](const std::string& line) {
    EXPECT_FALSE(std::exchange(inside, true)) << line << " comes into another one";
    lines.push_back(line);
    if (line == "submitted root") executor().SubmitAsync(Watched::Named("late"), {}, [](const Result<ProcId>&) {});
    lines.push_back("/" + line);
    inside = false;
  };
  Watched::submitted = [&](const Watched& self) { note("submitted " + self.data().name()); };
  Watched::finished = [&](const Watched& self, const FinishInfo& info) {
    note((info.success ? "succeeded " : "failed ") + self.data().name());
  };
  told_->added = [&](const ProcedureInfo& info) { note(fmt::format("+{}", info.pid)); };
  told_->finished = [&](const ProcedureInfo& info) { note(fmt::format("-{}", info.pid)); };
  Watched::work = [](const std::string& name) -> StepOutcome {
    if (name == "late") return Done{};
    if (name != "root") return Await{};
    std::vector<ProcedurePtr> children;
    children.push_back(Watched::Named("child"));
    return Spawn{2, std::move(children)};
  };
  Listen();
  const ProcId root = SubmitWatched("root");
  Run();
  // Each end is committed in the call that publishes the previous one.
  executor().Bypass(root, /*recursive=*/true, {"op", "x"}, [](const Status&) {});
  Run();
  const std::vector<std::string> expected = {"submitted root", "+1", "submitted late",  "+2", "submitted child", "+3",
                                             "succeeded late", "-2", "succeeded child", "-3", "succeeded root",  "-1"};
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < lines.size(); i += 2) {
    ASSERT_EQ(lines[i + 1], "/" + lines[i]);
    seen.push_back(lines[i]);
  }
  std::sort(seen.begin() + 4, seen.begin() + 8);  // the child may be added before the other one has ended
  std::vector<std::string> sorted = expected;
  std::sort(sorted.begin() + 4, sorted.begin() + 8);
  EXPECT_EQ(seen, sorted);
}

// The removal drops queued notices. A listener that is added after the start is called for later procedures.
TEST_F(HooksTest, ARemovedListenerIsNotCalledAgain) {
  std::vector<std::string> heard;
  const auto note = [&heard](const char* what, const ProcedureInfo& info) {
    heard.push_back(fmt::format("{}{}", what, info.pid));
  };
  told_->added = [&](const ProcedureInfo& info) {
    note("+", info);
    if (info.pid == ProcId(2)) executor().RemoveListener(told_);
  };
  told_->finished = [&](const ProcedureInfo& info) { note("-", info); };
  Listen();
  (void)SubmitWatched("first");
  Run();
  (void)SubmitWatched("second");
  Run();
  EXPECT_EQ(heard, (std::vector<std::string>{"+1", "-1", "+2"}));
  const auto late = std::make_shared<Told>();
  late->added = [&](const ProcedureInfo& info) { note("late +", info); };
  executor().AddListener(late);
  (void)SubmitWatched("third");
  Run();
  EXPECT_EQ(heard, (std::vector<std::string>{"+1", "-1", "+2", "late +3"}));
  executor().RemoveListener(told_);  // not registered: no effect
}

// The exception is logged and counted; all others are called, and no procedure is affected.
TEST_F(HooksTest, ThrowingListenerIsCountedAndAffectsNoOther) {
  std::vector<std::string> heard;
  Watched::submitted = [](const Watched&) { throw std::runtime_error("hook"); };
  Watched::finished = [](const Watched&, const FinishInfo&) { throw 7; };
  told_->added = [](const ProcedureInfo&) { throw std::runtime_error("listener"); };
  told_->finished = [&](const ProcedureInfo& info) { heard.push_back(fmt::format("-{}", info.pid)); };
  Listen();
  ProcId pid;
  executor().SubmitAsync(Watched::Named("a"), {}, [&](const Result<ProcId>& answer) {
    pid = answer.value();
    throw std::runtime_error("callback");
  });
  executor().OnFinished(pid, [](const ProcedureResult&) { throw std::runtime_error("callback"); });
  executor().OnFinished(pid,
                        [&](const ProcedureResult& result) { heard.emplace_back(result.finished() ? "waiter" : "?"); });
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  EXPECT_EQ(heard, (std::vector<std::string>{"-1", "waiter"}));
  EXPECT_EQ(Counters().hook_errors, 3U) << "two hooks and a listener";
  EXPECT_EQ(Counters().succeeded, 1U);
  NewMaster();
  EXPECT_EQ(Outcome(pid), "success: ");
}

// HBASE-19953 for every member: members that fail, wait or never ran have an end too, and it is reported once.
TEST_F(HooksTest, EveryMemberOfAnUndoneTreeHasItsEnd) {
  std::vector<std::string> ends;
  Watched::finished = [&](const Watched& self, const FinishInfo& info) {
    ends.push_back(self.data().name() + (info.success ? " succeeded" : " failed: " + info.error->message()));
  };
  told_->finished = [&](const ProcedureInfo& info) {
    ends.push_back(fmt::format("-{} {}", info.pid, ProcStateName(info.state)));
  };
  Watched::work = [&](const std::string& name) -> StepOutcome {
    if (name == "done") return Done{};
    if (name == "waits") return Await{};
    if (name == "fails") return Fail{Error(Code::kFailedPrecondition, "no")};
    std::vector<ProcedurePtr> children;
    for (const char* child : {"never ran", "fails", "waits", "done"}) children.push_back(Watched::Named(child));
    return Spawn{2, std::move(children)};
  };
  Listen();
  const ProcId root = SubmitWatched("root");
  std::string waiter;
  ASSERT_TRUE(master().workers().RunOne());
  executor().OnFinished(
      ProcId(4), [&](const ProcedureResult& result) { waiter = result.error ? result.error->ToString() : "no error"; });
  Run();
  EXPECT_EQ(Outcome(root), "failed: FAILED_PRECONDITION: no");
  std::sort(ends.begin(), ends.end() - 2);
  EXPECT_EQ(ends,
            (std::vector<std::string>{
                "-2 ROLLEDBACK", "-3 ROLLEDBACK", "-4 ROLLEDBACK", "-5 SUCCESS", "done succeeded", "fails failed: no",
                "never ran failed: undone with its tree: FAILED_PRECONDITION: no",
                "waits failed: undone with its tree: FAILED_PRECONDITION: no", "root failed: no", "-1 ROLLEDBACK"}));
  EXPECT_EQ(waiter, "ABORTED: undone with its tree: FAILED_PRECONDITION: no");
  EXPECT_EQ(Counters().submitted, 5U);
  EXPECT_EQ(Counters().succeeded, 1U);
  EXPECT_EQ(Counters().failed, 4U);
}

TEST_F(HooksTest, ListenersAreNotifiedOfLoadedProcedures) {
  Watched::work = [](const std::string& name) -> StepOutcome {
    if (name == "ended") return Done{};
    return Await{};
  };
  int submitted = 0;
  Watched::submitted = [&](const Watched&) { ++submitted; };
  SubmitWatched("ended");
  SubmitWatched("waits");
  Run();
  std::vector<std::string> added;
  told_->added = [&](const ProcedureInfo& info) { added.push_back(fmt::format("+{}", info.pid)); };
  Listen();
  EXPECT_EQ(added, (std::vector<std::string>{"+2"}));
  EXPECT_EQ(submitted, 2) << "it was submitted only once";
}

// An exception from a check is a refusal: the process continues, and the next request with the nonce gets its answer.
TEST_F(HooksTest, AThrowingCheckRefuses) {
  SubmitOptions options;
  options.nonce = {1, 1};
  options.pre_check = []() -> Status { throw std::runtime_error("boom"); };
  for (int i = 0; i < 2; ++i) {
    const auto refused = executor().Submit(Watched::Named("a"), options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().ToString(), "INTERNAL: uncaught exception: boom");
  }
  Watched::check = [](const std::string& name) -> Status {
    if (name == "bad") throw 7;
    return Ok();
  };
  EXPECT_EQ(executor().Submit(Watched::Named("bad")).error().message(),
            "uncaught exception that is not a std::exception");
  Watched::work = [](const std::string&) -> StepOutcome {
    std::vector<ProcedurePtr> children;
    children.push_back(Watched::Named("bad"));
    return Spawn{2, std::move(children)};
  };
  const ProcId parent = SubmitWatched("parent");
  Run();
  EXPECT_EQ(Outcome(parent), "failed: INTERNAL: cannot spawn: uncaught exception that is not a std::exception");
}

}  // namespace
}  // namespace ratchet::procedure
