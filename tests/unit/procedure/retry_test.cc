// A retry that names an event: its delay ends with the event or by itself, whichever comes first.
#include <array>
#include <functional>

#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

// A procedure with one step, which the test sets.
class Waiter final : public StateMachineProcedure<Waiter, Script> {
 public:
  static constexpr std::string_view kTypeName = "Waiter";
  static constexpr auto Steps() { return std::array{On<&Waiter::Only>(1, "ONLY", kNothingToUndo)}; }
  using StateMachineProcedure::StateMachineProcedure;
  static inline std::function<StepOutcome(StepContext&)> only;

 private:
  StepOutcome Only(StepContext& ctx) { return only(ctx); }
};

class RetryTest : public ExecutorTest {
 protected:
  RetryTest() { registry_.Register<Waiter>(); }
  ~RetryTest() override { Waiter::only = nullptr; }
  ProcId SubmitWaiter(std::function<StepOutcome(StepContext&)> only) {
    Waiter::only = std::move(only);
    const auto pid = executor().Submit(std::make_unique<Waiter>());
    EXPECT_TRUE(pid.ok());
    return *pid;
  }
};

TEST_F(RetryTest, GoesOnAsSoonAsItsEventIsWoken) {
  int tries = 0;
  const ProcId pid = SubmitWaiter([&tries](StepContext& ctx) -> StepOutcome {
    auto ticket = ctx.TakeTicket({"e"});
    if (++tries == 3) return Done{};
    return Retry{Error(Code::kUnavailable, "busy"), Millis{60'000}, 0, std::move(ticket)};
  });
  Run();
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kRetry);
  EXPECT_GT(Info(pid).waiting.next_try_in->count(), 0);
  executor().Wake({"other"});
  Run();
  EXPECT_EQ(tries, 1);
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(Info(pid).attempt, 3U) << "it is a further attempt, as when the delay is over";
  ASSERT_TRUE(time_.RunNext()) << "the delay ends it too";
  Run();
  EXPECT_EQ(Outcome(pid), "success: ");
  executor().Wake({"e"});  // no procedure waits
  Run();
  EXPECT_EQ(tries, 3);
}

TEST_F(RetryTest, AWakeUpBetweenTheTicketAndTheRetryIsNotLost) {
  int tries = 0;
  const ProcId pid = SubmitWaiter([&](StepContext& ctx) -> StepOutcome {
    auto ticket = ctx.TakeTicket({"e"});
    if (++tries == 2) return Done{};
    executor().Wake({"e"});
    return Retry{Error(Code::kUnavailable, "busy"), Millis{60'000}, 0, std::move(ticket)};
  });
  Run();
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(Outcome(pid), "success: ");
}

}  // namespace
}  // namespace ratchet::procedure
