// A cursor over the cells of a range of rows (S39: children inherit from all parents). Pure.
#pragma once

#include <memory>
#include <string_view>

#include "regionserver/store/cell_cursor.h"

namespace ratchet::regionserver {

// Returns the cells of `cells` whose rows are at or after `low` and before `high`; an empty bound does not limit. Rows
// in plain order: hbase:meta is never split.
[[nodiscard]] std::unique_ptr<CellCursor> OnlyRows(std::unique_ptr<CellCursor> cells, std::string_view low,
                                                   std::string_view high);

// The intersection of two ranges of rows.
struct RowRange {
  std::string_view low;
  std::string_view high;  // empty: no bound
  [[nodiscard]] bool empty() const { return !high.empty() && low >= high; }
  [[nodiscard]] bool Contains(std::string_view row) const { return row >= low && (high.empty() || row < high); }
  // Returns whether a row between `first` and `last`, both included, may be in the range.
  [[nodiscard]] bool Touches(std::string_view first, std::string_view last) const {
    return !empty() && last >= low && (high.empty() || first < high);
  }
};
[[nodiscard]] RowRange Shared(const RowRange& a, const RowRange& b);

}  // namespace ratchet::regionserver
