// Makes each filter from its description in a request. Private to the folder; the decoder is the only caller.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "regionserver/filter/comparator.h"
#include "regionserver/filter/filter.h"

namespace ratchet::regionserver::filters {

// Compares a part of a cell. Without a comparator everything matches (DependentColumnFilter).
struct Comparison {
  CompareOp op = CompareOp::kEqual;
  std::unique_ptr<Comparator> comparator;
  std::shared_ptr<Faults> faults;
  // Returns false also if the comparator cannot parse the stored bytes; then the error is in `faults`.
  [[nodiscard]] bool Matches(std::string_view stored) const;
};

// Filters by row
[[nodiscard]] FilterPtr MakePrefix(std::string prefix, bool reversed);
[[nodiscard]] FilterPtr MakeRow(Comparison comparison);
[[nodiscard]] FilterPtr MakePage(std::int64_t page_size);
[[nodiscard]] FilterPtr MakeInclusiveStop(std::string stop_row, bool reversed);
[[nodiscard]] FilterPtr MakeRandomRow(float chance, std::uint64_t seed);
[[nodiscard]] FilterPtr MakeFilterAll();
struct FuzzyKey {
  std::string key;
  std::string fixed;  // as long as `key`: 1 where the byte must match, 0 where any byte matches
};
[[nodiscard]] FilterPtr MakeFuzzyRows(std::vector<FuzzyKey> keys, bool reversed);
struct RowRange {
  std::string start;
  std::string stop;  // empty: no end
  bool include_start = true;
  bool include_stop = false;
};
[[nodiscard]] FilterPtr MakeRowRanges(std::vector<RowRange> ranges, bool reversed);

// Filters by family, column and time
[[nodiscard]] FilterPtr MakeFamily(Comparison comparison);
[[nodiscard]] FilterPtr MakeQualifier(Comparison comparison);
[[nodiscard]] FilterPtr MakeColumnPrefixes(std::vector<std::string> prefixes);
struct ColumnRange {
  bool has_min = false;
  bool has_max = false;
  std::string min;
  std::string max;
  bool include_min = true;
  bool include_max = false;
};
[[nodiscard]] FilterPtr MakeColumnRange(ColumnRange range);
[[nodiscard]] FilterPtr MakeColumnCount(std::int32_t limit);
[[nodiscard]] FilterPtr MakeColumnPage(std::int32_t limit, std::int32_t offset);
[[nodiscard]] FilterPtr MakeColumnPageFrom(std::int32_t limit, std::string first_column);
[[nodiscard]] FilterPtr MakeFirstKeyOnly();
[[nodiscard]] FilterPtr MakeFirstKeyMatching(std::vector<std::string> qualifiers);
[[nodiscard]] FilterPtr MakeKeyOnly(bool length_as_value);
[[nodiscard]] FilterPtr MakeTimestamps(std::vector<std::int64_t> timestamps, bool can_hint);

// Filters by value
[[nodiscard]] FilterPtr MakeValue(Comparison comparison);
struct TestedColumn {
  std::string family;
  std::string qualifier;
  [[nodiscard]] bool Is(const CellView& cell) const { return cell.family == family && cell.qualifier == qualifier; }
};
struct SingleColumn {
  TestedColumn column;
  bool filter_if_missing = false;
  bool latest_version_only = true;
  bool exclude_column = false;
};
[[nodiscard]] FilterPtr MakeSingleColumn(SingleColumn what, Comparison comparison);
[[nodiscard]] FilterPtr MakeColumnValue(TestedColumn column, Comparison comparison);
[[nodiscard]] FilterPtr MakeDependentColumn(TestedColumn column, bool drop_column, Comparison comparison);

// Filters that contain other filters
[[nodiscard]] FilterPtr MakeSkip(FilterPtr inner);
[[nodiscard]] FilterPtr MakeWhileMatch(FilterPtr inner);
[[nodiscard]] FilterPtr MakeAll(std::vector<FilterPtr> members, bool reversed);
[[nodiscard]] FilterPtr MakeAny(std::vector<FilterPtr> members, bool reversed);

}  // namespace ratchet::regionserver::filters
