#include "chaos/workloads/foreign_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/history/linearizability.h"

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Operation Put(const std::string& value) {
  Operation op;
  op.client = 2;
  op.key = "row/s";
  op.kind = OperationKind::kPut;
  op.argument = value;
  op.invoked_ns = 10;
  op.returned_ns = 20;
  return op;
}

Operation Get(const Value& observed, std::int64_t from, std::int64_t to) {
  Operation op;
  op.key = "row/s";
  op.invoked_ns = from;
  op.returned_ns = to;
  op.observed = observed;
  return op;
}

TEST(ForeignLineTest, ARequestHasAllFields) {
  Operation op = Put("x");
  op.kind = OperationKind::kCheckAndPut;
  op.expected = "old";
  EXPECT_EQ(ToForeignRequest(7, {"row", false}, op), "7\t2\trow\ts\tcheck-and-put\tx\told\n");
  EXPECT_EQ(ToForeignRequest(8, {"row", true}, Get({}, 1, 2)), "8\t0\trow\tn\tget\t\t\n");
}

TEST(ForeignLineTest, AnAnswerIsALineOfAHistoryWithIdAndAttempts) {
  const auto answer = FromForeignAnswer(
      R"({"id":7,"client":2,"key":"row/s","op":"put","value":"x","invoke":1,"return":2,"attempts":2,"outcome":"ok"})");
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  EXPECT_EQ(answer->id, 7U);
  EXPECT_EQ(answer->attempts, 2U);
  EXPECT_EQ(answer->operation.argument, "x");
}

TEST(ForeignLineTest, AWrongAnswerNamesItsField) {
  const auto error = [](std::string_view line) {
    const auto answer = FromForeignAnswer(line);
    return answer.ok() ? std::string() : answer.error().message();
  };
  constexpr const char* kRest = R"("client":2,"key":"k","op":"get","invoke":1,"return":2,"outcome":"unknown")";
  EXPECT_THAT(error("no json"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(error("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error(fmt::format(R"({{{},"attempts":1}})", kRest)), HasSubstr("\"id\""));
  EXPECT_THAT(error(fmt::format(R"({{{},"id":-1,"attempts":1}})", kRest)), HasSubstr("\"id\""));
  EXPECT_THAT(error(fmt::format(R"({{{},"id":1}})", kRest)), HasSubstr("\"attempts\""));
  EXPECT_THAT(error(fmt::format(R"({{{},"id":1,"attempts":0}})", kRest)), HasSubstr("\"attempts\""));
  EXPECT_THAT(error(fmt::format(R"({{{},"id":1,"attempts":4000000000}})", kRest)), HasSubstr("\"attempts\""));
  EXPECT_THAT(error(R"({"id":1,"attempts":1})"), HasSubstr("\"client\""));
}

TEST(ForeignLineTest, AnAnswerToAnotherOperationIsRefused) {
  const Operation asked = Put("x");
  EXPECT_TRUE(CheckForeignAnswer(asked, asked, 5, 25).ok());
  const auto refused = [&](void (*change)(Operation&), const char* text) {
    Operation other = asked;
    change(other);
    const Status checked = CheckForeignAnswer(asked, other, 5, 25);
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().message(), HasSubstr(text));
  };
  refused([](Operation& op) { op.client = 3; }, "another operation");
  refused([](Operation& op) { op.key = "row/n"; }, "another operation");
  refused([](Operation& op) { op.argument = "y"; }, "another operation");
  refused([](Operation& op) { op.kind = OperationKind::kAppend; }, "another operation");
  refused([](Operation& op) { op.invoked_ns = 4; }, "monotonic clock");
  refused([](Operation& op) { op.returned_ns = 26; }, "monotonic clock");
}

TEST(ForeignLineTest, AConditionOfNothingMayBeNullOrEmpty) {
  Operation asked = Put("x");
  asked.kind = OperationKind::kCheckAndPut;
  Operation answered = asked;
  answered.expected = "";
  EXPECT_TRUE(CheckForeignAnswer(asked, answered, 5, 25).ok());
  answered.expected = "z";
  EXPECT_FALSE(CheckForeignAnswer(asked, answered, 5, 25).ok());
}

// x was put twice: the second attempt arrived after y. Without the further attempt the history has no order.
TEST(ForeignLineTest, ARepeatedPutMayTakeEffectAgain) {
  Operation put = Put("x");
  Operation other = Put("y");
  other.invoked_ns = 30;
  other.returned_ns = 40;
  History history = {put, other, Get("y", 50, 60), Get("x", 70, 80)};
  EXPECT_EQ(CheckKey(history).verdict, Linearizability::kNo);
  EXPECT_TRUE(SplitAttempts(put, 1).empty());
  const History perhaps = SplitAttempts(put, 2);
  ASSERT_EQ(perhaps.size(), 1U);
  EXPECT_EQ(put.outcome, OperationOutcome::kOk);
  history.insert(history.end(), perhaps.begin(), perhaps.end());
  EXPECT_EQ(CheckKey(history).verdict, Linearizability::kYes);
  history.push_back(Get("y", 90, 95));  // once more is too often
  EXPECT_EQ(CheckKey(history).verdict, Linearizability::kNo);
}

TEST(ForeignLineTest, ARepeatedIncrementIsExecutedOnceAndItsAnswerIsUnknown) {
  Operation increment = Put("3");
  increment.kind = OperationKind::kIncrement;
  increment.observed = "3";
  EXPECT_TRUE(SplitAttempts(increment, 1).empty());
  EXPECT_EQ(increment.observed, "3");
  EXPECT_TRUE(SplitAttempts(increment, 3).empty());
  EXPECT_EQ(increment.observed, std::nullopt);
  EXPECT_EQ(increment.outcome, OperationOutcome::kOk);
}

TEST(ForeignLineTest, AConditionThatIsFalseForTheLastAttemptMayHaveBeenTrue) {
  Operation check = Put("x");
  check.kind = OperationKind::kCheckAndPut;
  check.applied = false;
  EXPECT_TRUE(SplitAttempts(check, 1).empty());
  EXPECT_EQ(check.outcome, OperationOutcome::kOk);
  EXPECT_EQ(SplitAttempts(check, 3).size(), 2U);
  EXPECT_EQ(check.outcome, OperationOutcome::kUnknown);
  check.outcome = OperationOutcome::kOk;
  check.applied = true;
  EXPECT_EQ(SplitAttempts(check, 2).size(), 1U);
  EXPECT_EQ(check.outcome, OperationOutcome::kOk);
}

TEST(LineCutterTest, CutsAcrossPiecesAndNamesALineThatIsTooLong) {
  LineCutter cutter(8);
  std::vector<std::string> lines;
  EXPECT_TRUE(cutter.Take("on", lines).ok());
  EXPECT_TRUE(lines.empty());
  EXPECT_TRUE(cutter.Take("e\ntwo\n\nfo", lines).ok());
  EXPECT_TRUE(cutter.Take("ur\n12345678", lines).ok());
  EXPECT_THAT(lines, ElementsAre("one", "two", "", "four"));
  const Status refused = cutter.Take("9", lines);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), HasSubstr("line 5 is longer"));
}

}  // namespace
}  // namespace ratchet::chaos
