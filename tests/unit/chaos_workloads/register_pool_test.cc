#include "chaos/workloads/register_pool.h"

#include <set>

#include <gtest/gtest.h>

#include "chaos/history/register_model.h"

namespace ratchet::chaos {
namespace {

Operation Done(OperationKind kind = OperationKind::kGet) {
  Operation op;
  op.kind = kind;
  return op;
}
Operation Unknown() {
  Operation op = Done(OperationKind::kPut);
  op.outcome = OperationOutcome::kUnknown;
  return op;
}

TEST(RegisterPoolTest, EveryRegionGetsRegistersOfBothKindsAndFreshOnesOverTime) {
  constexpr int kRegions = 5;
  RegisterPool pool(kRegions);
  Prng prng(3);
  std::set<RegisterName> seen;
  std::set<std::string> prefixes;
  for (int i = 0; i < 20'000; ++i) {
    const auto ticket = pool.Begin(prng);
    seen.insert(ticket.name);
    prefixes.insert(ticket.name.row.substr(0, 4) + (ticket.name.number ? "n" : "s"));
    pool.End(ticket, Done());
  }
  EXPECT_EQ(prefixes.size(), 2U * kRegions);
  EXPECT_GT(seen.size(), 20'000U / RegisterPool::kOperations);
  std::size_t operations = 0;
  for (const auto& finished : pool.CollectFinished()) {
    EXPECT_EQ(finished.history.size(), static_cast<std::size_t>(RegisterPool::kOperations));
    EXPECT_FALSE(finished.has_unknown);
    EXPECT_EQ(seen.erase(finished.name), 1U) << "finished twice";
    operations += finished.history.size();
  }
  EXPECT_TRUE(pool.CollectFinished().empty());
  for (const auto& left : pool.CollectAll()) {
    EXPECT_EQ(seen.erase(left.name), 1U);
    operations += left.history.size();
  }
  EXPECT_EQ(operations, 20'000U);
  EXPECT_TRUE(seen.empty());
}

TEST(RegisterPoolTest, ARegisterIsFinishedOnlyWhenNobodyWorksOnIt) {
  RegisterPool pool(1);
  Prng prng(4);
  std::vector<RegisterPool::Ticket> open;
  for (int i = 0; i < 4 * RegisterPool::kOperations; ++i) open.push_back(pool.Begin(prng));
  EXPECT_TRUE(pool.CollectFinished().empty());
  for (const auto& ticket : open) pool.End(ticket, Done());
  EXPECT_GE(pool.CollectFinished().size(), 2U);
}

TEST(RegisterPoolTest, UnknownOutcomesRetireARegisterEarly) {
  RegisterPool pool(1);
  Prng prng(5);
  for (int i = 0; i < 8; ++i) pool.End(pool.Begin(prng), Unknown());
  const auto finished = pool.CollectFinished();
  ASSERT_FALSE(finished.empty());
  EXPECT_TRUE(finished.front().has_unknown);
  EXPECT_EQ(finished.front().history.size(), static_cast<std::size_t>(RegisterPool::kMostUnknown));
}

TEST(RegisterPoolTest, ConditionsGetTheLastKnownValue) {
  RegisterPool pool(1);
  Prng prng(6);
  Operation put = Done(OperationKind::kPut);
  put.argument = "x";
  const auto first = pool.Begin(prng);
  pool.End(first, put);
  for (int i = 0; i < 20; ++i) {
    const auto ticket = pool.Begin(prng);
    if (ticket.id == first.id) {
      EXPECT_EQ(ticket.recent, Value("x"));
    }
    pool.End(ticket, Done(OperationKind::kPut));
    if (ticket.id == first.id) break;
  }
}

TEST(DrawOperationTest, TheSameSeedDrawsTheSameOperationsOfEveryKind) {
  const RegisterPool::Ticket text{1, {"r", false}, "seen"};
  const RegisterPool::Ticket number{2, {"r", true}, "7"};
  Prng one(11);
  Prng two(11);
  std::set<OperationKind> kinds;
  int conditions_that_may_hold = 0;
  for (int i = 0; i < 1'000; ++i) {
    const auto& ticket = i % 2 == 0 ? text : number;
    const Operation op = DrawOperation(ticket, "u", one);
    const Operation again = DrawOperation(ticket, "u", two);
    EXPECT_EQ(op.kind, again.kind);
    EXPECT_EQ(op.argument, again.argument);
    EXPECT_EQ(op.expected, again.expected);
    kinds.insert(op.kind);
    EXPECT_FALSE(ticket.name.number ? op.kind == OperationKind::kAppend : op.kind == OperationKind::kIncrement);
    if (op.expected == ticket.recent) ++conditions_that_may_hold;
  }
  EXPECT_EQ(kinds.size(), 7U);
  EXPECT_GT(conditions_that_may_hold, 50);
}

TEST(ReadRegisterTest, NumbersAreDecimalAndGarbageIsNoNumber) {
  client::Row row;
  row.key = "r";
  EXPECT_EQ(ReadRegister({"r", false}, row), std::nullopt);
  row.cells.push_back({"r", "f", "s", 1, CellType::kPut, "text"});
  row.cells.push_back({"r", "f", "n", 1, CellType::kPut, EncodeInt64(-3)});
  EXPECT_EQ(ReadRegister({"r", false}, row), Value("text"));
  EXPECT_EQ(ReadRegister({"r", true}, row), Value("-3"));
  row.cells[1].value = "abc";
  EXPECT_EQ(ReadRegister({"r", true}, row), Value("not a number: abc"));
}

}  // namespace
}  // namespace ratchet::chaos
