// Each violation of a scan is planted once, and found.
#include "chaos/workloads/scan_ledger.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

class ScanLedgerTest : public ::testing::Test {
 protected:
  ScanLedgerTest() : ledger_({"a", "b", "c", "d"}) {
    for (std::size_t row = 0; row < 4; ++row) Write(row);
    floors_ = ledger_.Before();
  }
  std::int64_t Write(std::size_t row) {
    const std::int64_t version = ledger_.BeginPut(row);
    ledger_.Acknowledge(row, version);
    return version;
  }
  client::Row RowOf(std::size_t row, std::int64_t version, const std::string& prefix = "") {
    client::Row made{ledger_.keys()[row], {}, false};
    for (std::size_t i = 0; i < kScanColumns; ++i) {
      const std::string column = ScanColumn(i);
      if (!column.starts_with(prefix)) continue;
      made.cells.push_back({made.key, "f", column, version, CellType::kPut, ScanValue(made.key, column, version)});
    }
    return made;
  }
  // All rows at version 1, ended.
  ScanAnswer Whole() {
    ScanAnswer answer;
    for (std::size_t row = 0; row < 4; ++row) answer.rows.push_back(RowOf(row, 1));
    answer.ended = true;
    return answer;
  }
  std::string Judge(const ScanQuestion& question, const ScanAnswer& answer) {
    return ledger_.Judge(question, floors_, answer).value_or("");
  }
  const ScanQuestion kAll{0, 4};

  ScanLedger ledger_;
  ScanLedger::Floors floors_;
};

TEST_F(ScanLedgerTest, AWholeScanIsGood) { EXPECT_EQ(Judge(kAll, Whole()), ""); }

TEST_F(ScanLedgerTest, AWholeReversedScanIsGood) {
  ScanAnswer answer = Whole();
  std::reverse(answer.rows.begin(), answer.rows.end());
  EXPECT_EQ(Judge({0, 4, true}, answer), "");
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("was returned after row d"));
}

TEST_F(ScanLedgerTest, ARowOutOfOrder) {
  ScanAnswer answer = Whole();
  std::swap(answer.rows[1], answer.rows[2]);
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row b was returned after row c"));
}

TEST_F(ScanLedgerTest, ARowTwice) {
  ScanAnswer answer = Whole();
  answer.rows.insert(answer.rows.begin() + 1, answer.rows[1]);
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row b was returned twice"));
}

TEST_F(ScanLedgerTest, ARowThatIsMissing) {
  ScanAnswer answer = Whole();
  answer.rows.erase(answer.rows.begin() + 1);
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row b is missing"));
  std::reverse(answer.rows.begin(), answer.rows.end());
  EXPECT_THAT(Judge({0, 4, true}, answer), HasSubstr("row b is missing"));
}

TEST_F(ScanLedgerTest, TheLastRowIsMissing) {
  ScanAnswer answer = Whole();
  answer.rows.pop_back();
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row d is missing"));
  answer.ended = false;  // the scan ended before that row
  EXPECT_EQ(Judge(kAll, answer), "");
}

TEST_F(ScanLedgerTest, ARowThatWasNotAcknowledgedBeforeMayBeMissing) {
  floors_[1] = 0;
  ScanAnswer answer = Whole();
  answer.rows.erase(answer.rows.begin() + 1);
  EXPECT_EQ(Judge(kAll, answer), "");
}

TEST_F(ScanLedgerTest, AVersionFromBeforeTheInterval) {
  EXPECT_EQ(Write(2), 2);
  floors_ = ledger_.Before();
  EXPECT_THAT(Judge(kAll, Whole()), HasSubstr("row c shows version 1, although 2 was acknowledged"));
}

TEST_F(ScanLedgerTest, AVersionThatWasBegunDuringTheScanIsGood) {
  ScanAnswer answer = Whole();
  EXPECT_EQ(ledger_.BeginPut(2), 2);
  answer.rows[2] = RowOf(2, 2);
  EXPECT_EQ(Judge(kAll, answer), "");
}

TEST_F(ScanLedgerTest, AVersionFromBehindTheInterval) {
  ScanAnswer answer = Whole();
  answer.rows[2] = RowOf(2, 2);
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row c shows version 2, although only 1"));
}

TEST_F(ScanLedgerTest, ARowOfTwoVersions) {
  EXPECT_EQ(Write(0), 2);
  ScanAnswer answer = Whole();
  answer.rows[0] = RowOf(0, 2);
  answer.rows[0].cells[3] = RowOf(0, 1).cells[3];
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row a is of two versions: 2 and 1"));
}

TEST_F(ScanLedgerTest, AColumnThatIsMissingOrComesTwice) {
  ScanAnswer answer = Whole();
  answer.rows[0].cells.pop_back();
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row a has 7 columns of 8"));
  answer = Whole();
  answer.rows[0].cells.push_back(answer.rows[0].cells.back());
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row a has 9 columns of 8"));
}

TEST_F(ScanLedgerTest, AValueOfAnotherRow) {
  ScanAnswer answer = Whole();
  answer.rows[0].cells[1].value = answer.rows[1].cells[1].value;
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row a column a1 has a value that was never written"));
}

TEST_F(ScanLedgerTest, ARowThatWasNeverWritten) {
  ScanAnswer answer = Whole();
  answer.rows[1].key = "bb";
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row bb was never written"));
}

TEST_F(ScanLedgerTest, ARowOutsideTheRange) {
  EXPECT_THAT(Judge({1, 4}, Whole()), HasSubstr("row a was not asked for"));
  EXPECT_THAT(Judge({0, 3}, Whole()), HasSubstr("row d was not asked for"));
}

TEST_F(ScanLedgerTest, ALimit) {
  ScanAnswer answer = Whole();
  EXPECT_THAT(Judge({0, 4, false, 3}, answer), HasSubstr("4 rows, although the limit is 3"));
  answer.rows.pop_back();
  EXPECT_EQ(Judge({0, 4, false, 3}, answer), "") << "row d is behind the limit";
  answer.rows.pop_back();
  EXPECT_THAT(Judge({0, 4, false, 3}, answer), HasSubstr("row c is missing")) << "fewer than the limit: to the end";
}

TEST_F(ScanLedgerTest, AFilterOfColumns) {
  ScanQuestion question = kAll;
  question.column_prefix = "b";
  ScanAnswer answer;
  for (std::size_t row = 0; row < 4; ++row) answer.rows.push_back(RowOf(row, 1, "b"));
  answer.ended = true;
  EXPECT_EQ(Judge(question, answer), "");
  EXPECT_THAT(Judge(question, Whole()), HasSubstr("row a has 8 columns of 4"));
}

TEST_F(ScanLedgerTest, NothingAtAll) {
  ScanAnswer answer;
  answer.ended = true;
  EXPECT_THAT(Judge(kAll, answer), HasSubstr("row a is missing"));
  answer.ended = false;
  EXPECT_EQ(Judge(kAll, answer), "");
}

}  // namespace
}  // namespace ratchet::chaos
