// Step tables: errors that the compiler refuses, and errors that registration refuses.
#include <gtest/gtest.h>

#include "procedure/api/lock_procedure.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/step_table.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {
namespace {

struct NoReturn {  // names the registered type, whose class is private to its source
  static constexpr std::string_view kTypeName = "ScriptNoReturn";
};

class BadParent final : public StateMachineProcedure<BadParent, ratchet::testing::pb::Script> {
 public:
  static constexpr std::string_view kTypeName = "BadParent";
  static constexpr auto Steps() {
    return std::array{On<&BadParent::One>(1, "ONE", kNothingToUndo, Spawns<NoReturn>())};
  }

 private:
  StepOutcome One(StepContext&) { return Done{}; }
};

static_assert(!StepTableHasPreconditions(BadParent::Steps()), "a row without its precondition is noticed");
static_assert(StepTableHasPreconditions(LockProcedure::Steps()));

TEST(RegistryTest, RowThatSpawnsNoReturnMustBeOne) {
  ProcedureRegistry registry;
  ratchet::testing::RegisterScripts(registry);
  EXPECT_TRUE(registry.Verify().ok());
  registry.Register<BadParent>();
  const Status status = registry.Verify();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "BadParent:ONE spawns ScriptNoReturn, which has a point of no return, but is not one itself");
}

// Tables that the compiler refuses.
struct Author {
  StepOutcome Run(StepContext& /*ctx*/) { return Done{}; }
  Status Back(StepContext& /*ctx*/) { return Ok(); }
};
using AuthorStep = Step<Author>;
constexpr Undo<Author> kBack{UndoKind::kCall, &Author::Back};
constexpr Undo<Author> kNone{UndoKind::kNothing, nullptr};
constexpr Undo<Author> kEnd{UndoKind::kPointOfNoReturn, nullptr};
constexpr AuthorStep Row(StepNo number, std::string_view name, Undo<Author> undo) {
  return {number, name, &Author::Run, undo, {}};
}
// If the compiler does not compare functions with null, the result is unknown.
template <class Rows>
consteval bool Refused(const Rows& rows) {
  return !kFunctionsAreCompared || !StepTableIsSound(rows);
}
static_assert(StepTableIsSound(std::array{Row(1, "A", kBack), Row(2, "B", kNone), Row(3, "C", kEnd),
                                          Row(4, "D", kEnd)}));
static_assert(Refused(std::array{Row(1, "A", {})}), "not decided how it is undone");
static_assert(Refused(std::array{Row(1, "A", {UndoKind::kCall, nullptr})}), "an undo without a function");
static_assert(Refused(std::array{Row(1, "A", {UndoKind::kNothing, &Author::Back})}), "an undo that is never called");
static_assert(Refused(std::array{AuthorStep{1, "A", nullptr, kNone, {}}}), "no function");
static_assert(!StepTableIsSound(std::array{Row(1, "A", kEnd), Row(2, "B", kBack)}),
              "an undo behind the point of no return");
static_assert(!StepTableIsSound(std::array{Row(1, "A", kNone), Row(1, "B", kNone)}), "a number twice");
static_assert(!StepTableIsSound(std::array{Row(1, "A", kNone), Row(2, "A", kNone)}), "a name twice");
static_assert(!StepTableIsSound(std::array{Row(0, "A", kNone)}), "number zero");
static_assert(!StepTableIsSound(std::array<AuthorStep, 0>{}), "no state");

// Tables that registration refuses, of types that were not made by StateMachineProcedure.
TEST(RegistryTest, UnsoundTablesAreRefusedByTypeAndRow) {
  const auto verify = [](std::vector<StepRow> rows) {
    ProcedureRegistry registry;
    registry.Add({"Odd", rows, [] { return ProcedurePtr(); }});
    const Status status = registry.Verify();
    return status.ok() ? std::string("ok") : status.error().message();
  };
  EXPECT_EQ(verify({{1, "A", UndoKind::kCall, {}}, {2, "B", UndoKind::kPointOfNoReturn, {}}}), "ok");
  EXPECT_EQ(verify({{1, "A", UndoKind::kPointOfNoReturn, {}}, {2, "B", UndoKind::kCall, {}}}),
            "Odd:B (number 2) has an undo after a point of no return");
  EXPECT_EQ(verify({{1, "A", UndoKind::kNothing, {}}, {1, "B", UndoKind::kNothing, {}}}),
            "Odd:B (number 1) has the number or the name of A");
  EXPECT_EQ(verify({{0, "A", UndoKind::kNothing, {}}}), "Odd:A (number 0) has no number or no name");
  EXPECT_EQ(verify({{1, "A", UndoKind::kNothing, {{"Unheard"}, 1}}}), "Odd:A spawns the unknown type Unheard");
}

}  // namespace
}  // namespace ratchet::procedure
