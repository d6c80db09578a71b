#include "chaos/workloads/bank_ledger.h"

#include <algorithm>
#include <iterator>
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
      return Error(Code::kCorruption, fmt::format("row {}: column {} is not a number", row.key, column));
    return Ok();
  };
  for (std::size_t i = 0; i < kAccounts; ++i) RATCHET_TRY(read(AccountColumn(i), parsed.balances[i]));
  RATCHET_TRY(read(kVersionColumn, parsed.version));
  return parsed;
}

std::int64_t BankLedger::Least(const Account& account) {
  std::int64_t least = 0;
  for (const auto& [first, known] : account.reads) least = std::max(least, known.least);
  return least;
}

BankLedger::Ticket BankLedger::BeginChange(std::size_t row) {
  MutexLock lock(mutex_);
  Account& account = rows_[row];
  ++account.possible;
  account.under_way.insert(account.next);
  return account.next++;
}

std::optional<std::string> BankLedger::EndChange(std::size_t row, Ticket change, OperationOutcome outcome) {
  MutexLock lock(mutex_);
  Account& account = rows_[row];
  account.under_way.erase(change);
  bool seen_although_failed = false;
  for (auto& [first, known] : account.reads) {
    if (outcome == OperationOutcome::kOk && first <= change) ++known.least;
    if (outcome == OperationOutcome::kFailed && first > change) seen_although_failed |= --known.spare < 0;
  }
  if (outcome == OperationOutcome::kFailed) --account.possible;
  Merge(account);
  if (!seen_although_failed) return std::nullopt;
  return fmt::format("done although refused: a read of row {} has seen more changes than can have been done by then",
                     row);
}

// Merges reads if no change that is still in progress began between them, because they are equivalent from now on.
void BankLedger::Merge(Account& account) {
  for (auto it = account.reads.begin(); std::next(it) != account.reads.end();) {
    const auto later = std::next(it);
    const auto between = account.under_way.lower_bound(it->first);
    if (between != account.under_way.end() && *between < later->first) {
      it = later;
      continue;
    }
    it->second = {std::max(it->second.least, later->second.least), std::min(it->second.spare, later->second.spare)};
    account.reads.erase(later);
  }
}

std::int64_t BankLedger::Floor(std::size_t row) const {
  MutexLock lock(mutex_);
  return Least(rows_[row]);
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
  // Called under the mutex after the answer came: every change that the read saw had begun by now.
  if (parsed->version > account.possible) {
    return fmt::format("done twice: row {} is at version {}, but only {} were ever begun", read.key, parsed->version,
                       Counted(static_cast<std::uint64_t>(account.possible), "change"));
  }
  const Known told{parsed->version, account.possible - parsed->version};
  const auto [known, first] = account.reads.try_emplace(account.next, told);
  if (!first) known->second = {std::max(known->second.least, told.least), std::min(known->second.spare, told.spare)};
  Merge(account);
  return std::nullopt;
}

}  // namespace ratchet::chaos
