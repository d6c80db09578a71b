// One filter of a read: it decides on rows and cells, and may know the position of the next cell that it could take
// (HBase's semantics). Pure.
//
// Order of calls for each row: first RowKeyIsOut. Then Look for each cell that passes columns, time range and versions,
// followed by Hint or Transform as Look returned. If JudgesRows, then DropCells and RowIsOut with the whole row.
// Finally Reset. AllRemainingAreOut is asked between rows.
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

// Result of Look: whether the filter takes the cell, and which cell the filter wants to see next. kNextColumn and
// kNextRow refer to the same family.
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

// A position in the order of cells: the first cell at or after these parts. Without a family: the first cell of the
// row.
struct Place {
  std::string row;
  std::string family;
  std::string qualifier;
  std::int64_t timestamp = INT64_MAX;  // newest first
};
// Compare in the order of a scan: a reversed scan visits rows backwards, but the cells of a row always forwards.
[[nodiscard]] int ComparePlaces(const Place& a, const Place& b, bool reversed);
[[nodiscard]] int CompareWithPlace(const CellView& cell, const Place& place, bool reversed);

class Filter {
 public:
  virtual ~Filter() = default;
  virtual bool RowKeyIsOut(std::string_view /*row*/) { return AllRemainingAreOut(); }
  virtual Verdict Look(const CellView& /*cell*/) { return kTake; }
  // Called for the cell that Look answered with kHint; nullopt means the next cell.
  virtual std::optional<Place> Hint(const CellView& /*cell*/) { return std::nullopt; }
  // Returns the cell that the scan uses instead of a cell that the filter took; valid until the next call.
  virtual CellView Transform(const CellView& cell) { return cell; }
  [[nodiscard]] virtual bool JudgesRows() const { return false; }
  virtual void DropCells(std::vector<Cell>& /*cells*/) {}
  virtual bool RowIsOut() { return false; }
  [[nodiscard]] virtual bool AllRemainingAreOut() const { return false; }
  virtual void Reset() {}
  // HBase's HintingFilter. A list of all members also asks this member about a cell that another member excluded,
  // because this member may name a place farther away.
  [[nodiscard]] virtual bool Hints() const { return false; }
  // True when the filter knows the next row that it could take. Then Look is also called for rows that other filters
  // excluded.
  [[nodiscard]] virtual bool HintsRows() const { return false; }
};
using FilterPtr = std::unique_ptr<Filter>;

}  // namespace ratchet::regionserver::filters
