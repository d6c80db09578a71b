// What a row of accounts may look like at any time. Pure apart from its mutex.
//
// A row has kAccounts accounts and a version, 8-byte numbers each. Every change moves an amount between two accounts
// and adds one to the version, in one atomic mutation. So in whatever moment a row is read, all columns are there, the
// sum is the one that the row began with, and the version lies between the changes acknowledged before and those begun
// by then.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/history/operation.h"
#include "common/base/mutex.h"
#include "common/client/operations.h"

namespace ratchet::chaos {

inline constexpr std::size_t kAccounts = 6;
inline constexpr std::int64_t kOpeningBalance = 1'000;
inline constexpr const char* kVersionColumn = "v";

struct BankRow {
  std::array<std::int64_t, kAccounts> balances{};
  std::int64_t version = 0;
  [[nodiscard]] std::int64_t Sum() const;
};

[[nodiscard]] std::string AccountColumn(std::size_t account);  // "a0"
// kCorruption names the column that is missing or no number.
[[nodiscard]] Result<BankRow> ParseBankRow(const client::Row& row);

// Thread-safe.
class BankLedger {
 public:
  explicit BankLedger(std::size_t rows) : rows_(rows) {}

  void BeginChange(std::size_t row);
  // kFailed: certainly not done, a condition that did not hold included.
  void EndChange(std::size_t row, OperationOutcome outcome);

  // Around a read: the least version that it must see, asked before it is sent.
  [[nodiscard]] std::int64_t Floor(std::size_t row) const;
  // What is wrong with what it saw; nothing when all is well. Later reads must not see less.
  [[nodiscard]] std::optional<std::string> Observe(std::size_t row, std::int64_t floor, const client::Row& read);

 private:
  struct Account {
    std::int64_t acknowledged = 0;
    std::int64_t possible = 0;  // acknowledged, of unknown outcome or under way
    std::int64_t seen = 0;      // the highest version that a read has answered
  };
  mutable Mutex mutex_;
  std::vector<Account> rows_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::chaos
