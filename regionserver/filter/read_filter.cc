#include "regionserver/filter/read_filter.h"

namespace ratchet::regionserver {

void ReadFilter::JudgeRow(std::vector<Cell>& cells) {
  if (!judges_rows_) return;
  const bool was_empty = cells.empty();
  filter_->DropCells(cells);
  if (!was_empty && !cells.empty() && filter_->RowIsOut()) cells.clear();
}

}  // namespace ratchet::regionserver
