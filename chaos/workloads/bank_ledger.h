// The possible states of a row of accounts at any time. Pure apart from its mutex.
//
// A row has kAccounts accounts and a version, 8-byte numbers each. Every change moves an amount between two accounts
// and adds one to the version, in one atomic mutation. So whenever a row is read, it must have all columns, its sum
// must be the initial one, and its version must be between a lower and an upper bound. The upper bound is the number of
// changes that have begun. The lower bound is the version of an earlier read, plus one for each acknowledged change
// that began after that read. (A change of unknown outcome that the read saw does not count for any of these.)
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
// kCorruption names the column that is missing or not a number.
[[nodiscard]] Result<BankRow> ParseBankRow(const client::Row& row);

// Thread-safe.
class BankLedger {
 public:
  explicit BankLedger(std::size_t rows) : rows_(rows) {}

  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket BeginChange(std::size_t row);
  // kFailed: certainly not done, which includes a condition that was false. Returns the error when a read has seen more
  // changes than can have been done.
  [[nodiscard]] std::optional<std::string> EndChange(std::size_t row, Ticket change, OperationOutcome outcome);

  // Returns the lowest version that a read must see; call it before the read is sent.
  [[nodiscard]] std::int64_t Floor(std::size_t row) const;
  // Returns the error of a read, or nullopt. Later reads must not see less.
  [[nodiscard]] std::optional<std::string> Observe(std::size_t row, std::int64_t floor, const client::Row& read);

 private:
  // Reads, and the changes since then.
  struct Known {
    std::int64_t least = 0;  // the version seen, plus one for each acknowledged change that was begun after it
    std::int64_t spare = 0;  // number of the changes begun before it that may have failed, according to the reads
  };
  struct Account {
    std::int64_t possible = 0;  // changes acknowledged, of unknown outcome or in progress
    Ticket next = 1;            // number of the next change
    std::set<Ticket> under_way;
    std::map<Ticket, Known> reads{
        {1, {}}};  // by the first change begun after them; the first entry precedes all changes
  };
  [[nodiscard]] static std::int64_t Least(const Account& account);
  static void Merge(Account& account);
  mutable Mutex mutex_;
  std::vector<Account> rows_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::chaos
