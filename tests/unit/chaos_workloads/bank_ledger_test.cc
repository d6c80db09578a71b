#include "chaos/workloads/bank_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/workloads/load.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

client::Row RowOf(std::int64_t version, std::int64_t first = kOpeningBalance, std::int64_t second = kOpeningBalance) {
  client::Row row;
  row.key = "r";
  const auto add = [&](const std::string& column, std::int64_t number) {
    row.cells.push_back({"r", kLoadFamily, column, 1, CellType::kPut, EncodeInt64(number)});
  };
  for (std::size_t i = 0; i < kAccounts; ++i) add(AccountColumn(i), i == 0 ? first : i == 1 ? second : kOpeningBalance);
  add(kVersionColumn, version);
  return row;
}

// A change from its begin to its end, without other operations in between.
std::optional<std::string> Change(BankLedger& ledger, OperationOutcome outcome) {
  return ledger.EndChange(0, ledger.BeginChange(0), outcome);
}

TEST(BankLedgerTest, AWholeRowIsFine) {
  BankLedger ledger(1);
  (void)Change(ledger, OperationOutcome::kOk);
  EXPECT_EQ(ledger.Observe(0, ledger.Floor(0), RowOf(1, 900, 1'100)), std::nullopt);
}

TEST(BankLedgerTest, AHalfChangedRowIsTorn) {
  BankLedger ledger(1);
  EXPECT_THAT(*ledger.Observe(0, 0, RowOf(0, 900)), HasSubstr("torn"));
  client::Row incomplete = RowOf(0);
  incomplete.cells.erase(incomplete.cells.begin() + 2);
  EXPECT_THAT(*ledger.Observe(0, 0, incomplete), HasSubstr("a2 is missing"));
  client::Row garbled = RowOf(0);
  garbled.cells[3].value = "x";
  EXPECT_THAT(*ledger.Observe(0, 0, garbled), HasSubstr("a3 is not a number"));
  EXPECT_THAT(*ledger.Observe(0, 0, client::Row{}), HasSubstr("missing"));
}

TEST(BankLedgerTest, AnAcknowledgedChangeMustBeSeen) {
  BankLedger ledger(1);
  (void)Change(ledger, OperationOutcome::kOk);
  EXPECT_THAT(*ledger.Observe(0, ledger.Floor(0), RowOf(0)), HasSubstr("lost"));
}

TEST(BankLedgerTest, WhatOneReadSawALaterOneMustSee) {
  BankLedger ledger(1);
  (void)ledger.BeginChange(0);  // under way
  EXPECT_EQ(ledger.Observe(0, ledger.Floor(0), RowOf(1)), std::nullopt);
  EXPECT_THAT(*ledger.Observe(0, ledger.Floor(0), RowOf(0)), HasSubstr("lost"));
}

TEST(BankLedgerTest, AChangeOfUnknownOutcomeCountsOnceOrNotAtAll) {
  BankLedger ledger(1);
  (void)Change(ledger, OperationOutcome::kUnknown);
  EXPECT_EQ(ledger.Observe(0, ledger.Floor(0), RowOf(0)), std::nullopt);
  EXPECT_EQ(ledger.Observe(0, ledger.Floor(0), RowOf(1)), std::nullopt);
  EXPECT_THAT(*ledger.Observe(0, ledger.Floor(0), RowOf(2)), HasSubstr("done twice"));
}

// A read has shown the change of unknown outcome. This does not prove the later, acknowledged change.
TEST(BankLedgerTest, AChangeOfUnknownOutcomeHidesNoLostOne) {
  BankLedger ledger(1);
  (void)Change(ledger, OperationOutcome::kUnknown);
  EXPECT_EQ(ledger.Observe(0, ledger.Floor(0), RowOf(1)), std::nullopt);
  (void)Change(ledger, OperationOutcome::kOk);
  EXPECT_THAT(*ledger.Observe(0, ledger.Floor(0), RowOf(1)), HasSubstr("lost"));
  EXPECT_EQ(ledger.Observe(0, ledger.Floor(0), RowOf(2)), std::nullopt);
}

TEST(BankLedgerTest, WhatWasSeenBeforeItsRefusalIsNoticedWithTheRefusal) {
  BankLedger ledger(1);
  const auto change = ledger.BeginChange(0);
  EXPECT_EQ(ledger.Observe(0, ledger.Floor(0), RowOf(1)), std::nullopt);
  EXPECT_THAT(*ledger.EndChange(0, change, OperationOutcome::kFailed), HasSubstr("done although refused"));
}

TEST(BankLedgerTest, ARefusedChangeMustNotShow) {
  BankLedger ledger(1);
  (void)Change(ledger, OperationOutcome::kFailed);
  EXPECT_THAT(*ledger.Observe(0, ledger.Floor(0), RowOf(1)), HasSubstr("done twice"));
}

}  // namespace
}  // namespace ratchet::chaos
