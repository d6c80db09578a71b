// The filter of one read, as the region uses it: what HBase's server wraps around a request's filter. Pure.
//
// One thread at a time; one read only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "regionserver/filter/comparator.h"
#include "regionserver/filter/filter.h"

namespace ratchet::regionserver {

class ReadFilter {
 public:
  ReadFilter(filters::FilterPtr filter, std::shared_ptr<filters::Faults> faults, std::size_t held_bytes)
      : filter_(std::move(filter)),
        faults_(std::move(faults)),
        held_bytes_(held_bytes),
        judges_rows_(filter_->JudgesRows()) {}

  // Call in the order that filters::Filter describes.
  [[nodiscard]] bool RowKeyIsOut(std::string_view row) { return filter_->RowKeyIsOut(row); }
  [[nodiscard]] filters::Verdict Look(const CellView& cell) { return filter_->Look(cell); }
  [[nodiscard]] std::optional<filters::Place> Hint(const CellView& cell) { return filter_->Hint(cell); }
  [[nodiscard]] CellView Transform(const CellView& cell) { return filter_->Transform(cell); }
  // True when the filter needs all taken cells of a row at once, in JudgeRow; otherwise cells may be returned as they
  // come.
  [[nodiscard]] bool judges_rows() const { return judges_rows_; }
  // Drops cells from the row; drops all of them when the row is excluded.
  void JudgeRow(std::vector<Cell>& cells) {
    if (!judges_rows_) return;
    const bool was_empty = cells.empty();
    filter_->DropCells(cells);
    if (!was_empty && !cells.empty() && filter_->RowIsOut()) cells.clear();
  }
  void EndRow() { filter_->Reset(); }
  [[nodiscard]] bool Done() const { return filter_->AllRemainingAreOut(); }
  // Returns an error when a comparator could not parse a stored value.
  [[nodiscard]] const Status& status() const { return faults_->status; }
  // Memory that the filter holds in addition to the bytes of the request.
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }

 private:
  const filters::FilterPtr filter_;
  const std::shared_ptr<filters::Faults> faults_;
  const std::size_t held_bytes_;
  const bool judges_rows_;
};

}  // namespace ratchet::regionserver
