// What is shown of a procedure while a report is folded into its data: it waits, and none of its steps runs.
#include <functional>
#include <optional>

#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

// Waits for a report. The test sets the function that folds it.
class Asking final : public StateMachineProcedure<Asking, Script> {
 public:
  static constexpr std::string_view kTypeName = "Asking";
  static constexpr auto Steps() { return std::array{On<&Asking::Ask>(1, "ASK", kNothingToUndo)}; }
  using StateMachineProcedure::StateMachineProcedure;
  static inline std::function<void()> folding;
  static inline std::function<void()> in_step;
  [[nodiscard]] Absorbed Absorb(std::string_view message) override {
    if (folding) folding();
    data_.set_name(std::string(message));
    return Absorbed::Taken();
  }

 private:
  StepOutcome Ask(StepContext& ctx) {
    if (in_step) in_step();
    if (!data_.name().empty()) return Done{data_.name()};
    return Await{ctx.TakeTicket({"answer"}), std::nullopt};
  }
};

class FoldViewTest : public ExecutorTest {
 protected:
  FoldViewTest() { registry_.Register<Asking>(); }
  ~FoldViewTest() override { Asking::folding = Asking::in_step = nullptr; }
};

TEST_F(FoldViewTest, NoStepRunsWhileAReportIsFolded) {
  std::optional<ProcedureInfo> in_step;
  const auto pid = executor().Submit(std::make_unique<Asking>());
  ASSERT_TRUE(pid.ok());
  Asking::in_step = [&] { in_step = executor().Get(*pid); };
  Run();
  ASSERT_TRUE(in_step.has_value());
  EXPECT_TRUE(in_step->running);
  EXPECT_EQ(in_step->waiting.kind, WaitingOn::Kind::kNone);
  std::optional<ProcedureInfo> folded;
  Asking::folding = [&] { folded = executor().Get(*pid); };
  EXPECT_EQ(Deliver(*pid, "yes"), "taken");
  ASSERT_TRUE(folded.has_value());
  EXPECT_FALSE(folded->running);
  EXPECT_EQ(folded->waiting.kind, WaitingOn::Kind::kEvent);
  EXPECT_EQ(folded->waiting.detail, "answer");
  Run();
  EXPECT_EQ(Outcome(*pid), "success: yes");
}

}  // namespace
}  // namespace ratchet::procedure
