// Takes stored cells one after the other and shows them without copying what stays the same from one to the next.
//
// The parts of the column are decoded once a column, once a row where nothing else changes; the value is never copied.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {

// The views that it hands out are good until the next call of TakeKey; value() also only while the value's bytes are.
class CellDecoder {
 public:
  // The outermost part in which a key differs from the one before.
  enum class Change : std::uint8_t { kVersion, kColumn, kFamily, kRow };

  CellDecoder() = default;
  CellDecoder(const CellDecoder&) = delete;
  CellDecoder& operator=(const CellDecoder&) = delete;

  // kCorruption when it is no key of a cell.
  [[nodiscard]] Result<Change> TakeKey(std::string_view key);
  // The value of the key that was taken last, again if its bytes have moved.
  Status TakeValue(std::string_view value);

  [[nodiscard]] const CellView& cell() const { return cell_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::int64_t ttl_ms() const { return ttl_ms_; }  // 0: none of its own
  // Fronts of the key that was taken last, as RowPrefix, FamilyPrefix and ColumnPrefix make them.
  [[nodiscard]] std::string_view row_prefix() const { return std::string_view(column_).substr(0, row_end_); }
  [[nodiscard]] std::string_view family_prefix() const { return std::string_view(column_).substr(0, family_end_); }
  [[nodiscard]] std::string_view column_prefix() const { return column_; }

 private:
  Result<Change> TakeColumn(std::string_view column);
  [[nodiscard]] bool OnlyRowDiffers(std::string_view column) const;

  CellView cell_;
  std::uint64_t sequence_ = 0;
  std::int64_t ttl_ms_ = 0;
  std::string column_;  // the escaped column, a copy: the cursor moves on
  std::size_t row_end_ = 0;
  std::size_t family_end_ = 0;
  std::string row_;  // unescaped, where that differs
  std::string family_;
  std::string qualifier_;
  std::string tags_;  // with the time to live
};

}  // namespace ratchet::regionserver
