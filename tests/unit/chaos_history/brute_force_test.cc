// The checker against the definition: every order of every subset of the operations of unknown outcome, tried one by
// one.
#include <set>

#include <gtest/gtest.h>

#include "chaos/history/json_lines.h"
#include "chaos/history/linearizability.h"
#include "chaos/history/register_model.h"
#include "tests/unit/chaos_history/random_history.h"

namespace ratchet::chaos {
namespace {

// Tries each operation as the next one that none of the remaining operations must precede. No memory, no pruning.
void TryAll(const History& history, std::vector<bool>& used, const Value& value, std::set<Value>& ends) {
  bool complete = true;
  for (std::size_t i = 0; i < history.size(); ++i) {
    complete = complete && (used[i] || history[i].outcome != OperationOutcome::kOk);
  }
  if (complete) ends.insert(value);
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (used[i] || history[i].outcome == OperationOutcome::kFailed) continue;
    bool first = true;
    for (std::size_t j = 0; j < history.size(); ++j) {
      const bool before = history[j].outcome == OperationOutcome::kOk && history[j].returned_ns < history[i].invoked_ns;
      first = first && (used[j] || !before);
    }
    const auto after = first ? Execute(value, history[i]) : std::nullopt;
    if (!after) continue;
    used[i] = true;
    TryAll(history, used, *after, ends);
    used[i] = false;
  }
}

std::set<Value> BruteForce(const History& history) {
  std::vector<bool> used(history.size(), false);
  std::set<Value> ends;
  TryAll(history, used, std::nullopt, ends);
  return ends;
}

std::string Text(const History& history) {
  std::string text;
  for (const auto& op : history) text += ToJsonLine(op) + "\n";
  return text;
}

TEST(BruteForceTest, AgreesOnTenThousandSmallHistories) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RecordProperty("seed", std::to_string(seed));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  int good = 0;
  int bad = 0;
  for (int i = 0; i < 10'000; ++i) {
    RandomHistoryShape shape;
    shape.operations = 2 + prng.Below(5);
    shape.clients = static_cast<std::uint32_t>(1 + prng.Below(4));
    shape.lies_in_1000 = static_cast<std::uint32_t>(prng.Below(2) * 250);
    const History history = RandomHistory(shape, prng);
    const std::set<Value> ends = BruteForce(history);
    const KeyVerdict verdict = CheckKey(history);
    ASSERT_EQ(verdict.verdict, ends.empty() ? Linearizability::kNo : Linearizability::kYes) << Text(history);
    const auto values = PossibleValues(history);
    ASSERT_EQ(values.ok(), !ends.empty()) << Text(history);
    if (values.ok()) {
      ASSERT_EQ(std::set<Value>(values->begin(), values->end()), ends) << Text(history);
    } else {
      ASSERT_NE(verdict.explanation.find("WINDOW *"), std::string::npos) << verdict.explanation;
    }
    ++(ends.empty() ? bad : good);
  }
  // The comparison is meaningful only if there were enough good and bad histories.
  EXPECT_GT(good, 3'000);
  EXPECT_GT(bad, 1'000);
}

TEST(BruteForceTest, HistoriesWithoutLiesAreLinearizable) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng prng(seed);
  for (int i = 0; i < 300; ++i) {
    RandomHistoryShape shape;
    shape.operations = 200;
    shape.clients = 8;
    shape.unknown_in_1000 = 10;
    shape.distinct_values = 0;
    const History history = RandomHistory(shape, prng);
    ASSERT_EQ(CheckKey(history).verdict, Linearizability::kYes) << Text(history);
  }
}

}  // namespace
}  // namespace ratchet::chaos
