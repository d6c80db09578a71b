// What a row of accounts may look like at any time. Pure apart from its mutex.
//
// A row has kAccounts accounts and a version, 8-byte numbers each. Every change moves an amount between two accounts
// and adds one to the version, in one atomic mutation. So in whatever moment a row is read, all columns are there, the
// sum is the one that the row began with, and the version lies between what must have happened before and the changes
// begun by then. What must have happened: a read's version, and one more for each change that was begun after it and
// has been acknowledged (a change of unknown outcome that the read saw makes up for none of them).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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

  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket BeginChange(std::size_t row);
  // kFailed: certainly not done, a condition that did not hold included. What is wrong with that, when a read has seen
  // more changes than can have been done.
  [[nodiscard]] std::optional<std::string> EndChange(std::size_t row, Ticket change, OperationOutcome outcome);

  // Around a read: the least version that it must see, asked before it is sent.
  [[nodiscard]] std::int64_t Floor(std::size_t row) const;
  // What is wrong with what it saw; nothing when all is well. Later reads must not see less.
  [[nodiscard]] std::optional<std::string> Observe(std::size_t row, std::int64_t floor, const client::Row& read);

 private:
  // What reads have told, and changes since then.
  struct Known {
    std::int64_t least =
        0;  // the version that was seen, and one more for each acknowledged change that was begun after it
    std::int64_t spare = 0;  // how many of the changes begun before it can have failed for all that was seen
  };
  struct Account {
    std::int64_t possible = 0;  // changes acknowledged, of unknown outcome or under way
    Ticket next = 1;            // of the next change
    std::set<Ticket> under_way;
    std::map<Ticket, Known> reads{
        {1, {}}};  // by the first change begun after them; the first one is before all changes
  };
  [[nodiscard]] static std::int64_t Least(const Account& account);
  static void Merge(Account& account);
  mutable Mutex mutex_;
  std::vector<Account> rows_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::chaos
