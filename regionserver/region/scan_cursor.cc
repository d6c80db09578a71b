#include "regionserver/region/scan_cursor.h"

#include <algorithm>
#include <utility>

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kCellOverhead = 32;

std::uint64_t SizeOf(const Cell& cell) {
  return cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size() + kCellOverhead;
}

// Never above what is readable (S24), whatever the client asks for.
ReadPoint ReadPointOf(RegionCore& core, const ScanSpec& spec) {
  ReadPoint point = core.TakeReadPoint();
  if (spec.read_point != 0) point.sequence = std::min(point.sequence, spec.read_point);
  return point;
}

}  // namespace

ScanCursor::ScanCursor(std::shared_ptr<RegionCore> core, ScanSpec spec)
    : core_(std::move(core)), spec_(std::move(spec)), reader_(core_->families, ReadPointOf(*core_, spec_), core_->order) {}

bool ScanCursor::Inside(const std::string& row) const {
  if (spec_.stop_row.empty()) return true;
  const auto order = CompareRows(core_->order.rows, row, spec_.stop_row);
  if (order == 0) return spec_.include_stop_row;
  return spec_.reversed ? order > 0 : order < 0;
}

Status ScanCursor::Advance() {
  if (begun_) {
    RATCHET_ASSIGN(next_row_, spec_.reversed ? reader_.RowAtOrBefore(current_row_, false)
                                             : reader_.RowAtOrAfter(current_row_, false));
  } else if (spec_.reversed) {
    RATCHET_ASSIGN(next_row_, spec_.start_row.empty() ? reader_.LastRow()
                                                      : reader_.RowAtOrBefore(spec_.start_row, spec_.include_start_row));
  } else {
    const bool inclusive = spec_.start_row.empty() || spec_.include_start_row;
    RATCHET_ASSIGN(next_row_, reader_.RowAtOrAfter(spec_.start_row, inclusive));
  }
  begun_ = true;
  if (next_row_ && !Inside(*next_row_)) next_row_.reset();
  return Ok();
}

void ScanCursor::Emit(const ScanLimits& limits, std::uint64_t* bytes, ScanChunk& chunk) {
  ScanResultRow result;
  while (!RowIsDone()) {
    if (spec_.batch_cells > 0 && result.cells.size() == spec_.batch_cells) break;
    if (limits.allow_partial && limits.max_bytes > 0 && *bytes >= limits.max_bytes && !result.cells.empty()) break;
    *bytes += SizeOf(row_[row_at_]);
    result.cells.push_back(std::move(row_[row_at_++]));
  }
  result.partial = !RowIsDone();
  chunk.rows.push_back(std::move(result));
}

bool ScanCursor::Full(const ScanLimits& limits, std::uint64_t bytes, const ScanChunk& chunk, bool row_is_done) {
  if (limits.max_rows > 0 && chunk.rows.size() >= limits.max_rows) return true;
  return limits.max_bytes > 0 && bytes >= limits.max_bytes && (row_is_done || limits.allow_partial);
}

Result<ScanChunk> ScanCursor::Next(const ScanLimits& limits) {
  RATCHET_TRY(core_->CheckReadable());
  ScanChunk chunk;
  std::uint64_t bytes = 0;
  if (!begun_) RATCHET_TRY(Advance());
  for (;;) {
    while (!RowIsDone() && !Full(limits, bytes, chunk, false)) Emit(limits, &bytes, chunk);
    if (!RowIsDone() || (next_row_ && Full(limits, bytes, chunk, true))) break;
    if (!next_row_) {
      chunk.more_in_region = false;
      break;
    }
    if (limits.allow_heartbeat && chunk.rows_scanned > 0 && core_->params.clock->Now() >= limits.deadline) {
      chunk.heartbeat = true;
      break;
    }
    current_row_ = std::move(*next_row_);
    RATCHET_ASSIGN(row_, reader_.Read(current_row_, spec_, core_->params.clock->WallMillis()));
    row_at_ = 0;
    ++chunk.rows_scanned;
    RATCHET_TRY(Advance());
  }
  chunk.cursor_row = current_row_;
  core_->reads.fetch_add(chunk.rows_scanned, std::memory_order_relaxed);
  return chunk;
}

}  // namespace ratchet::regionserver
