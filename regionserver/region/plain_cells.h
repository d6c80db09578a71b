// S165 (plain cells pass every rule): recognizes cells that a scan returns whatever its rules, without the selection of
// row_stream.h: the newest version of its column, a visible put without a time to live of its own and without tags, in
// a row without delete markers so far. Most cells are like this. Pure.
//
// It keeps the key of the last such cell. RowStream::Continue resumes after it where a cell is of another kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/mutant.h"
#include "common/model/cell.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/store/row_selector.h"

namespace ratchet::regionserver {

class PlainCells {
 public:
  // `query` outlives the object. Cells with sequences above `read_point` are not plain.
  PlainCells(const RowQuery& query, std::uint64_t read_point) : query_(query), read_point_(read_point) {}

  // True when the query selects whole families, of any time, so that plain cells exist.
  [[nodiscard]] static bool Exist(const RowQuery& query);

  // Returns true for a plain cell, which is then the last one; otherwise nothing changes. `key` is in another row than
  // the last cell, or in its row but another column.
  [[nodiscard]] bool Take(std::string_view key, std::string_view value, std::int64_t now_ms);
  // The last cell; valid until the next Take, and as long as the bytes of its value.
  [[nodiscard]] const CellView& cell() const { return cell_; }
  [[nodiscard]] std::string_view last_key() const { return key_; }
  [[nodiscard]] bool SameRow(std::string_view key) const {
    return key.starts_with(std::string_view(key_.data(), row_end_));
  }
  // For a key in the row of the last cell.
  [[nodiscard]] bool SameColumn(std::string_view key) const {
    return key.size() == key_.size() && ColumnOf(key).substr(row_end_) == ColumnOf(key_).substr(row_end_);
  }
  // True when the other cells of the last cell's column change nothing. The empty column may have markers of the whole
  // family.
  [[nodiscard]] bool HidesColumn() const {
    return one_version_ && (!cell_.qualifier.empty() || RATCHET_MUTANT("region.plain_empty_column"));
  }

 private:
  // Ends of the parts of a column.
  struct Parts {
    std::size_t row_end = 0;
    std::size_t family_end = 0;
  };
  // Returns true when the column differs from the last one only in its row, which has the same length.
  [[nodiscard]] bool OnlyRowDiffers(std::string_view column) const;
  // Returns false when a part has zeros inside, or a length that no cell has.
  [[nodiscard]] bool Divide(std::string_view column, Parts* parts) const;
  // Returns the query's entry for the family; null: it is not wanted.
  [[nodiscard]] const FamilyQuery* Find(std::string_view family) const;
  [[nodiscard]] bool Expired(const FamilyQuery& family, std::int64_t timestamp, std::int64_t now_ms) const;

  const RowQuery& query_;
  const std::uint64_t read_point_;
  CellView cell_;
  std::string key_;  // of the last cell; empty: none yet
  std::size_t row_end_ = 0;
  std::size_t family_end_ = 0;
  const FamilyQuery* family_ = nullptr;
  bool one_version_ = false;  // a reader sees at most one version of a column of this family
};

}  // namespace ratchet::regionserver
