// One filter of a read: decides on rows and cells, and may know where the next cell is that it could take (HBase's
// semantics). Pure.
//
// Order of calls for each row: RowKeyIsOut; then, for each cell that columns, time range and the family's versions
// leave, Look, and at once Hint or Transform as Look has said; where JudgesRows, DropCells and RowIsOut with the whole
// row; at last Reset. AllRemainingAreOut is asked between rows.
//
// One thread at a time. Belongs to one read, with its state from row to row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/cell.h"

namespace ratchet::regionserver::filters {

// Whether a cell is taken, and where the next one is that the filter wants to look at. kNextColumn, kNextRow: of this
// family.
enum class Step : std::uint8_t { kNextCell, kNextColumn, kNextRow, kHint };
struct Verdict {
  bool take = true;
  Step step = Step::kNextCell;
  bool operator==(const Verdict&) const = default;
};
inline constexpr Verdict kTake{true, Step::kNextCell};
inline constexpr Verdict kTakeThenNextColumn{true, Step::kNextColumn};
inline constexpr Verdict kTakeThenNextRow{true, Step::kNextRow};
inline constexpr Verdict kSkip{false, Step::kNextCell};
inline constexpr Verdict kNextColumn{false, Step::kNextColumn};
inline constexpr Verdict kNextRow{false, Step::kNextRow};
inline constexpr Verdict kSeek{false, Step::kHint};

// A place in the order of cells: the first cell at or behind these parts. Without family: the first of the row.
struct Place {
  std::string row;
  std::string family;
  std::string qualifier;
  std::int64_t timestamp = INT64_MAX;  // newest first
};
// In the order of a scan: rows backwards if it is reversed; cells within a row always forwards.
[[nodiscard]] int ComparePlaces(const Place& a, const Place& b, bool reversed);
[[nodiscard]] int CompareWithPlace(const CellView& cell, const Place& place, bool reversed);

class Filter {
 public:
  virtual ~Filter() = default;
  virtual bool RowKeyIsOut(std::string_view /*row*/) { return AllRemainingAreOut(); }
  virtual Verdict Look(const CellView& /*cell*/) { return kTake; }
  // Of the cell that Look answered with kHint; nullopt: the next cell.
  virtual std::optional<Place> Hint(const CellView& /*cell*/) { return std::nullopt; }
  // What is given instead of a taken cell; good until the next call.
  virtual CellView Transform(const CellView& cell) { return cell; }
  [[nodiscard]] virtual bool JudgesRows() const { return false; }
  virtual void DropCells(std::vector<Cell>& /*cells*/) {}
  virtual bool RowIsOut() { return false; }
  [[nodiscard]] virtual bool AllRemainingAreOut() const { return false; }
  virtual void Reset() {}
  // Knows the next row that it could take: then Look is asked about rows that others have ruled out, too.
  [[nodiscard]] virtual bool HintsRows() const { return false; }
};
using FilterPtr = std::unique_ptr<Filter>;

}  // namespace ratchet::regionserver::filters
