#include "chaos/workloads/bank_ledger.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "chaos/workloads/load.h"

namespace ratchet::chaos {

std::int64_t BankRow::Sum() const { return std::accumulate(balances.begin(), balances.end(), std::int64_t{0}); }

std::string AccountColumn(std::size_t account) { return fmt::format("a{}", account); }

Result<BankRow> ParseBankRow(const client::Row& row) {
  BankRow parsed;
  const auto read = [&](const std::string& column, std::int64_t& number) -> Status {
    const auto value = row.Value(kLoadFamily, column);
    if (!value) return Error(Code::kCorruption, fmt::format("row {}: column {} is missing", row.key, column));
    if (!DecodeInt64(*value, number))
      return Error(Code::kCorruption, fmt::format("row {}: column {} is no number", row.key, column));
    return Ok();
  };
  for (std::size_t i = 0; i < kAccounts; ++i) RATCHET_TRY(read(AccountColumn(i), parsed.balances[i]));
  RATCHET_TRY(read(kVersionColumn, parsed.version));
  return parsed;
}

void BankLedger::BeginChange(std::size_t row) {
  MutexLock lock(mutex_);
  ++rows_[row].possible;
}

void BankLedger::EndChange(std::size_t row, OperationOutcome outcome) {
  MutexLock lock(mutex_);
  if (outcome == OperationOutcome::kOk) ++rows_[row].acknowledged;
  if (outcome == OperationOutcome::kFailed) --rows_[row].possible;
}

std::int64_t BankLedger::Floor(std::size_t row) const {
  MutexLock lock(mutex_);
  return std::max(rows_[row].acknowledged, rows_[row].seen);
}

std::optional<std::string> BankLedger::Observe(std::size_t row, std::int64_t floor, const client::Row& read) {
  const auto parsed = ParseBankRow(read);
  if (!parsed.ok()) return "torn: " + parsed.error().message();
  const auto expected = static_cast<std::int64_t>(kAccounts) * kOpeningBalance;
  if (parsed->Sum() != expected) {
    return fmt::format("torn: row {} at version {}: the sum is {}, not {}", read.key, parsed->version, parsed->Sum(),
                       expected);
  }
  MutexLock lock(mutex_);
  Account& account = rows_[row];
  if (parsed->version < floor) {
    return fmt::format("lost: row {} is at version {}, {} had been acknowledged or seen", read.key, parsed->version,
                       floor);
  }
  // Read under the mutex after the answer came: whatever the read saw had begun by now.
  if (parsed->version > account.possible) {
    return fmt::format("done twice: row {} is at version {}, but only {} were ever begun", read.key, parsed->version,
                       Counted(static_cast<std::uint64_t>(account.possible), "change"));
  }
  account.seen = std::max(account.seen, parsed->version);
  return std::nullopt;
}

}  // namespace ratchet::chaos
