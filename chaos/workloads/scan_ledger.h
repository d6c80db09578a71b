// Decides whether a scan's result is correct while its rows are written. Pure apart from its mutex.
//
// Every put writes all kScanColumns columns of a row. Their value is the row's version, and so is their timestamp. So a
// reader sees the newest version that has arrived, in whatever order puts arrive. A scan does not show one moment. But
// its rows are in order, and each row appears once and whole. Each row that was acknowledged before the scan began is
// in the result. Each row has a version of the scan's interval: one that is not older than the last version
// acknowledged before the scan, and whose put began before the scan's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/client/operations.h"

namespace ratchet::chaos {

// Two groups of four: "a0" to "a3", "b0" to "b3".
inline constexpr std::size_t kScanColumns = 8;
[[nodiscard]] std::string ScanColumn(std::size_t column);
// Returns a value that contains row, column and version.
[[nodiscard]] std::string ScanValue(std::string_view row, std::string_view column, std::int64_t version);

// The rows that a scan requested: [first, end) by number in the ledger, in the order of keys.
struct ScanQuestion {
  std::size_t first = 0;
  std::size_t end = 0;
  bool reversed = false;
  std::uint64_t limit = 0;      // 0: all
  std::string column_prefix{};  // only columns that begin with it; empty: all
};

// A scan's answer: the rows in the order in which they came.
struct ScanAnswer {
  std::vector<client::Row> rows;
  bool ended = false;  // the scanner said that there is nothing more; false: it failed, or was left
};

class ScanLedger {
 public:
  // `keys`: in order.
  explicit ScanLedger(std::vector<std::string> keys);

  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }
  // The version to write next. One put of a row at a time.
  [[nodiscard]] std::int64_t BeginPut(std::size_t row);
  // Call when the put succeeded; until then it may have arrived or not.
  void Acknowledge(std::size_t row, std::int64_t version);

  using Floors = std::vector<std::int64_t>;  // by row: the newest version that was acknowledged; 0: none
  [[nodiscard]] Floors Before() const;
  // What is wrong; nothing when all is well. `floors`: taken before the scan began. Called after its end.
  [[nodiscard]] std::optional<std::string> Judge(const ScanQuestion& question, const Floors& floors,
                                                 const ScanAnswer& answer) const;

 private:
  [[nodiscard]] std::optional<std::string> JudgeRow(const ScanQuestion& question, const client::Row& row,
                                                    std::int64_t floor, std::int64_t ceiling) const;
  // The first row of the question that must be there and is not.
  [[nodiscard]] std::optional<std::string> JudgeWhole(const ScanQuestion& question, const Floors& floors,
                                                      const ScanAnswer& answer,
                                                      const std::vector<std::size_t>& seen) const;

  const std::vector<std::string> keys_;
  mutable Mutex mutex_;
  std::vector<std::int64_t> begun_ GUARDED_BY(mutex_);
  std::vector<std::int64_t> acknowledged_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::chaos
