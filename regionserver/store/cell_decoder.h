// Decodes stored cells one after the other, without copying the parts that do not change from one cell to the next.
//
// The parts of the column are decoded once for each column, or once for each row if only the row changes; the value is
// never copied. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {

// The views that it returns are valid until the next call of DecodeKey; value() also needs the value's bytes to stay.
class CellDecoder {
 public:
  // The outermost part in which a key differs from the previous one.
  enum class Change : std::uint8_t { kVersion, kColumn, kFamily, kRow };

  CellDecoder() = default;
  CellDecoder(const CellDecoder&) = delete;
  CellDecoder& operator=(const CellDecoder&) = delete;

  // Returns kCorruption when `key` is not the key of a cell.
  [[nodiscard]] Result<Change> DecodeKey(std::string_view key);
  // Decodes the value of the last key; call again if the value's bytes have moved.
  Status DecodeValue(std::string_view value);

  [[nodiscard]] const CellView& cell() const { return cell_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::optional<std::int64_t> ttl_ms() const { return ttl_ms_; }  // the cell's own
  // Prefixes of the last key, as made by RowPrefix, FamilyPrefix and ColumnPrefix.
  [[nodiscard]] std::string_view row_prefix() const { return std::string_view(column_).substr(0, row_end_); }
  [[nodiscard]] std::string_view family_prefix() const { return std::string_view(column_).substr(0, family_end_); }
  [[nodiscard]] std::string_view column_prefix() const { return column_; }

 private:
  Result<Change> DecodeColumn(std::string_view column);
  [[nodiscard]] bool OnlyRowDiffers(std::string_view column) const;

  CellView cell_;
  std::uint64_t sequence_ = 0;
  std::optional<std::int64_t> ttl_ms_;
  std::string column_;  // the escaped column, copied because the cursor moves
  std::size_t row_end_ = 0;
  std::size_t family_end_ = 0;
  std::string row_;  // unescaped, if different from the escaped form
  std::string family_;
  std::string qualifier_;
  std::string tags_;  // including the time to live
};

}  // namespace ratchet::regionserver
