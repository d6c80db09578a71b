#include <gtest/gtest.h>

#include "chaos/history/linearizability.h"
#include "tests/unit/chaos_history/random_history.h"

namespace ratchet::chaos {
namespace {

Operation Op(std::uint32_t client, OperationKind kind, const std::string& argument, std::int64_t from,
             std::int64_t to) {
  Operation op;
  op.client = client;
  op.key = "k";
  op.kind = kind;
  op.argument = argument;
  op.invoked_ns = from * 1'000'000;
  op.returned_ns = to * 1'000'000;
  return op;
}
Operation Put(std::uint32_t client, const std::string& value, std::int64_t from, std::int64_t to) {
  return Op(client, OperationKind::kPut, value, from, to);
}
Operation Get(std::uint32_t client, Value value, std::int64_t from, std::int64_t to) {
  Operation op = Op(client, OperationKind::kGet, "", from, to);
  op.observed = std::move(value);
  return op;
}
Operation Unknown(Operation op) {
  op.outcome = OperationOutcome::kUnknown;
  return op;
}

TEST(LinearizabilityTest, AnEmptyHistoryIsFine) {
  EXPECT_EQ(CheckKey({}).verdict, Linearizability::kYes);
  EXPECT_TRUE(CheckHistory({}).good());
}

TEST(LinearizabilityTest, TheExplanationIsTheWindowAroundTheFirstImpossibleAnswer) {
  History history;
  for (int i = 0; i < 20; ++i) history.push_back(Put(1, "v" + std::to_string(i), i * 10, i * 10 + 5));
  history.push_back(Get(2, "v18", 300, 310));  // the last acknowledged one is v19
  history.push_back(Put(1, "later", 400, 410));
  const auto verdict = CheckKey(history);
  ASSERT_EQ(verdict.verdict, Linearizability::kNo);
  EXPECT_EQ(verdict.explanation,
            "no order explains: client 2: get -> \"v18\"  [300.000 ms, 310.000 ms]\n"
            "  17 earlier operations, then\n"
            "  earlier  client 1: put \"v17\"  [170.000 ms, 175.000 ms]\n"
            "  earlier  client 1: put \"v18\"  [180.000 ms, 185.000 ms]\n"
            "  earlier  client 1: put \"v19\"  [190.000 ms, 195.000 ms]\n"
            "  the key then held \"v19\"\n"
            "  WINDOW *  client 2: get -> \"v18\"  [300.000 ms, 310.000 ms]\n");
}

TEST(LinearizabilityTest, TheExplanationNamesWhatIsPending) {
  const History history = {Put(1, "a", 0, 10), Unknown(Put(2, "b", 5, 20)), Get(1, "c", 30, 40)};
  const auto verdict = CheckKey(history);
  ASSERT_EQ(verdict.verdict, Linearizability::kNo);
  for (const char* part : {"pending  client 2: put \"b\" -> unknown", "the key then held \"a\" or \"b\""}) {
    EXPECT_NE(verdict.explanation.find(part), std::string::npos) << verdict.explanation;
  }
}

TEST(LinearizabilityTest, TheStartingValueCounts) {
  EXPECT_EQ(CheckKey({Get(1, "x", 0, 1)}, "x").verdict, Linearizability::kYes);
  EXPECT_EQ(CheckKey({Get(1, "x", 0, 1)}).verdict, Linearizability::kNo);
}

TEST(LinearizabilityTest, BeyondTheBoundItIsUndecidedAndThatIsNoPass) {
  // Twelve concurrent puts and a read of something else: every subset is a configuration of its own.
  History history;
  for (std::uint32_t i = 0; i < 12; ++i) history.push_back(Put(i, std::to_string(i), 0, 100));
  history.push_back(Get(99, "never written", 200, 210));
  CheckLimits limits;
  limits.configurations = 1'000;
  const auto verdict = CheckKey(history, std::nullopt, limits);
  EXPECT_EQ(verdict.verdict, Linearizability::kUndecided);
  EXPECT_LE(verdict.configurations, limits.configurations + 1);
  EXPECT_NE(verdict.explanation.find("undecided"), std::string::npos);
  const auto all = CheckHistory(history, limits);
  EXPECT_FALSE(all.good());
  EXPECT_TRUE(all.bad.empty());
  EXPECT_EQ(PossibleValues(history, std::nullopt, limits).error().code(), Code::kResourceExhausted);
  limits.configurations = 10'000'000;
  EXPECT_EQ(CheckKey(history, std::nullopt, limits).verdict, Linearizability::kNo);
}

TEST(LinearizabilityTest, KeysAreIndependent) {
  History history = {Put(1, "a", 0, 10), Get(1, "a", 20, 30)};
  Operation other = Get(2, "a", 20, 30);
  other.key = "other";
  history.push_back(other);
  const auto verdict = CheckHistory(history);
  EXPECT_EQ(verdict.keys, 2U);
  ASSERT_EQ(verdict.bad.size(), 1U);
  EXPECT_EQ(verdict.bad.front().key, "other");
}

TEST(LinearizabilityTest, PossibleValuesHoldWhatUnknownOperationsMayHaveDone) {
  const History history = {Put(1, "a", 0, 10), Unknown(Put(2, "b", 5, 20)),
                           Unknown(Op(3, OperationKind::kAppend, "+", 5, 20))};
  const auto values = PossibleValues(history);
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(*values, (std::vector<Value>{"a", "a+", "b", "b+"}));
}

// The cost grows with the number of operations, not with its square or worse.
TEST(LinearizabilityTest, AllOfALongHistoryIsVisitedOnce) {
  Prng prng(7);
  RandomHistoryShape shape;
  shape.operations = 20'000;
  shape.clients = 8;
  shape.unknown_in_1000 = 0;
  shape.distinct_values = 0;
  const auto verdict = CheckKey(RandomHistory(shape, prng));
  EXPECT_EQ(verdict.verdict, Linearizability::kYes);
  EXPECT_LT(verdict.configurations, 20 * shape.operations);
}

}  // namespace
}  // namespace ratchet::chaos
