// A procedure that waits for an event, a report or a time-out without a commit: an Await in memory.
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

// ASK does something outside and waits until "yes" was reported.
class Question final : public StateMachineProcedure<Question, testing::pb::Script> {
 public:
  static constexpr std::string_view kTypeName = "Question";
  static constexpr auto Steps() { return std::array{On<&Question::Ask>(1, "ASK", kNothingToUndo)}; }
  using StateMachineProcedure::StateMachineProcedure;
  Absorbed Absorb(std::string_view message) override {
    data_.add_absorbed(std::string(message));
    return Absorbed::Taken();
  }

 private:
  StepOutcome Ask(StepContext& ctx) {
    WaitTicket ticket = ctx.TakeTicket({"world"});
    for (const std::string& report : data_.absorbed()) {
      if (report == "yes") return Done{report};
    }
    ctx.env<Journal>().Do("asked", *this);
    return Await{std::move(ticket), Millis{1'000}, /*in_memory=*/true};
  }
};

class MemoryWaitTest : public ExecutorTest {
 protected:
  MemoryWaitTest() { registry_.Register<Question>(); }
  ProcId Ask() {
    const Result<ProcId> pid = executor().Submit(std::make_unique<Question>(), {});
    EXPECT_TRUE(pid.ok());
    Run();
    return pid.ok() ? *pid : ProcId();
  }
  std::size_t Asked() const {
    std::size_t times = 0;
    for (const std::string& line : journal_.Log()) times += line == "+asked" ? 1 : 0;
    return times;
  }
};

TEST_F(MemoryWaitTest, WaitingCostsNoCommit) {
  NewMaster();
  const auto before = disk_.CommitCount();
  const ProcId pid = Ask();
  EXPECT_EQ(disk_.CommitCount(), before + 1) << "its submission";
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kEvent);
  EXPECT_EQ(Deliver(pid, "yes"), "taken");
  Run();
  EXPECT_EQ(disk_.CommitCount(), before + 3) << "the report and its end";
  EXPECT_EQ(Outcome(pid), "success: yes");
  EXPECT_EQ(Asked(), 1U);
}

TEST_F(MemoryWaitTest, EventReportAndTimeOutEndIt) {
  const ProcId pid = Ask();
  EXPECT_EQ(Asked(), 1U);
  executor().Wake({"another world"});
  Run();
  EXPECT_EQ(Asked(), 1U);
  executor().Wake({"world"});
  Run();
  EXPECT_EQ(Asked(), 2U);
  EXPECT_EQ(Deliver(pid, "maybe"), "taken");
  Run();
  EXPECT_EQ(Asked(), 3U);
  time_.Advance(Millis{999});
  Run();
  EXPECT_EQ(Asked(), 3U);
  time_.Advance(Millis{1});
  Run();
  EXPECT_EQ(Asked(), 4U);
  EXPECT_EQ(Deliver(pid, "yes"), "taken");
  Run();
  EXPECT_EQ(Outcome(pid), "success: yes");
}

TEST_F(MemoryWaitTest, TheNextMasterRunsTheStateAgain) {
  const ProcId pid = Ask();
  NewMaster();
  Run();
  EXPECT_EQ(Asked(), 2U);
  EXPECT_EQ(Deliver(pid, "yes"), "taken");
  NewMaster();
  Run();
  EXPECT_EQ(Outcome(pid), "success: yes");
  EXPECT_EQ(Asked(), 2U);
}

}  // namespace
}  // namespace ratchet::procedure
