// The ledger of "alter" accepts every legal content of a table, and notices each illegal one.
#include "chaos/workloads/family_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;
using Now = FamilyLedger::Now;

class FamilyLedgerTest : public ::testing::Test {
 protected:
  void Change(Now now) {
    ledger_.BeginChange("g");
    ledger_.EndChange("g", now);
  }
  std::uint64_t Write() {
    const auto write = ledger_.Begin(0);
    ledger_.Acknowledge(write);
    return write.number;
  }
  // The result of a read; empty: no such cell.
  std::optional<std::string> See(const std::string& first, const std::string& other) {
    return ledger_.Observe(ledger_.BeginRead(0), RowWith(first, other));
  }
  static client::Row RowWith(const std::string& first, const std::string& other) {
    client::Row row{"a", {}, false};
    if (!first.empty()) row.cells.push_back({"a", "f", FamilyLedger::kColumn, 1, CellType::kPut, first});
    if (!other.empty()) row.cells.push_back({"a", "g", FamilyLedger::kColumn, 1, CellType::kPut, other});
    return row;
  }
  void ExpectWrong(const std::string& first, const std::string& other, const char* text) {
    const auto wrong = See(first, other);
    ASSERT_TRUE(wrong.has_value());
    EXPECT_THAT(*wrong, HasSubstr(text));
  }
  FamilyLedger ledger_{{"a", "b"}, {"g"}};
};

TEST_F(FamilyLedgerTest, AnAcknowledgedCellMayNotBeLost) {
  EXPECT_FALSE(See("", "").has_value());
  Write();
  Write();
  EXPECT_FALSE(See("2", "").has_value());
  ExpectWrong("", "", "is empty, but 2 was acknowledged");
  ExpectWrong("1", "", "holds 1, but 2 was acknowledged");
  ExpectWrong("3", "", "2 requested");
  ExpectWrong("x", "", "not a number");
}

TEST_F(FamilyLedgerTest, OneOfUnknownOutcomeMayBeThereOrNot) {
  Write();
  EXPECT_EQ(ledger_.Begin(0).number, 2U);
  EXPECT_FALSE(See("1", "").has_value());
  EXPECT_FALSE(See("2", "").has_value());
}

TEST_F(FamilyLedgerTest, AFamilyThatCameIsWrittenAndItsCellsCount) {
  Change(Now::kThere);
  const auto write = ledger_.Begin(0);
  EXPECT_EQ(write.put.cells.size(), 2U);
  ledger_.Acknowledge(write);
  EXPECT_FALSE(See("1", "1").has_value());
  ExpectWrong("1", "", "family g: is empty");
}

TEST_F(FamilyLedgerTest, CellsOfADroppedFamilyMayNotComeBack) {
  Change(Now::kThere);
  Write();
  Change(Now::kGone);
  ExpectWrong("1", "1", "the table has no such family");
  EXPECT_FALSE(See("1", "").has_value());
  Change(Now::kThere);
  ExpectWrong("1", "1", "before a family of its name was dropped");
  EXPECT_FALSE(See("1", "").has_value());
  Write();
  EXPECT_FALSE(See("2", "2").has_value());
}

TEST_F(FamilyLedgerTest, WhatIsWrittenDuringAChangeIsNotJudged) {
  Change(Now::kThere);
  const auto write = ledger_.Begin(0);
  ledger_.BeginChange("g");
  ledger_.Acknowledge(write);  // in the old family, or not at all
  EXPECT_FALSE(See("1", "").has_value());
  EXPECT_FALSE(See("1", "1").has_value());
  ledger_.EndChange("g", Now::kThere);  // it was refused
  EXPECT_FALSE(See("1", "").has_value());
  EXPECT_FALSE(See("1", "1").has_value());
}

TEST_F(FamilyLedgerTest, AReadDuringWhichAFamilyWentIsNotJudgedForIt) {
  Change(Now::kThere);
  Write();
  const auto read = ledger_.BeginRead(0);
  Change(Now::kGone);
  EXPECT_FALSE(ledger_.Observe(read, RowWith("1", "1")).has_value());
  EXPECT_TRUE(ledger_.Observe(read, RowWith("", "1")).has_value());
}

TEST_F(FamilyLedgerTest, ARefusalForAFamilyThatWasThereAllTheTimeIsWrong) {
  Change(Now::kThere);
  const auto write = ledger_.Begin(0);
  EXPECT_TRUE(ledger_.RefusedForFamily(write).has_value());
  ledger_.BeginChange("g");
  EXPECT_FALSE(ledger_.RefusedForFamily(write).has_value());
}

}  // namespace
}  // namespace ratchet::chaos
