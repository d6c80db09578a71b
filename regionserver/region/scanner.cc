#include "regionserver/region/scanner.h"

#include <algorithm>
#include <utility>

#include "common/base/mutant.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/region/region_errors.h"
#include "regionserver/store/directory_file_system.h"

namespace ratchet::regionserver {
namespace {

constexpr int kRowsToClock = 15;
constexpr std::uint64_t kBytesToClock = 64 << 10;
constexpr std::uint64_t kBytesOfBatch = 1 << 20;

class ResultCollector final : public ScanSink {
 public:
  void Add(const CellView& cell) override { result_.cells.push_back(cell.Copy()); }
  void EndResult(bool partial) override {
    result_.partial = partial;
    rows.push_back(std::exchange(result_, {}));
  }
  std::vector<ScanResultRow> rows;

 private:
  ScanResultRow result_;
};

}  // namespace

Scanner::Scanner(std::shared_ptr<Admission> admission, const OpeningRules& opening, RegionData& data, ScanSpec spec)
    : admission_(std::move(admission)),
      opening_(opening),
      data_(data),
      spec_(std::move(spec)),
      query_(MakeRowQuery(opening_.families(), spec_)) {
  data_.scans.Enter(*this, [this] { Begin(); });
}

Scanner::~Scanner() { data_.scans.Leave(*this); }

// The read point is never above the readable sequence (S24: visible after sync), whatever the client requests.
void Scanner::Begin() {
  const ReadPoint point = data_.Acquire();
  read_point_ = spec_.read_point == 0 ? point.sequence : std::min(point.sequence, spec_.read_point);
  view_ = std::make_unique<ViewCursor>(*point.view, opening_.order, OnlyRow());
  stream_ = std::make_unique<RowStream>(*view_, query_, opening_.order, read_point_, spec_.filter.get());
  if (spec_.filter != nullptr || spec_.reversed || spec_.batch_cells > 0 || opening_.order.rows != RowOrder::kPlain ||
      !PlainCells::Exist(query_))
    return;
  plain_.emplace(query_, read_point_);
  if (spec_.stop_row.empty()) return;
  plain_end_ = RowPrefix(spec_.stop_row);
  if (spec_.include_stop_row) plain_end_ = AfterPrefix(std::move(plain_end_));
}

std::string_view Scanner::OnlyRow() const {
  const std::string& row = spec_.start_row;
  const std::string& stop = spec_.stop_row;
  if (row.empty() || !spec_.include_start_row) return {};
  if ((stop == row && spec_.include_stop_row) || RATCHET_MUTANT("region.filter_any_scan")) return row;
  // Clients write the row after `row` as a stop row, too.
  const bool next = stop.size() == row.size() + 1 && stop.back() == '\0' && stop.starts_with(row);
  return next && !spec_.include_stop_row && !spec_.reversed && opening_.order.rows == RowOrder::kPlain
             ? row
             : std::string_view();
}

void Scanner::Flushed(const std::shared_ptr<Memstore>& memstore, const ReadableFiles& files,
                      std::vector<std::shared_ptr<const void>>* garbage) {
  MutexLock lock(resting_);
  if (in_call_) {
    waiting_.push_back({memstore, files});
    exchange_waits_.store(true, std::memory_order_relaxed);
  } else {
    view_->Exchange(memstore, files, garbage);
  }
}

Status Scanner::Wake() {
  {
    MutexLock lock(resting_);
    in_call_ = true;
  }
  view_->Resume();
  return stream_->Resumed();
}

void Scanner::Rest() {
  std::vector<std::shared_ptr<const void>> garbage;  // destroyed after the lock is released
  std::vector<Exchanged> exchanged;
  view_->Rest();
  MutexLock lock(resting_);
  exchanged.swap(waiting_);
  exchange_waits_.store(false, std::memory_order_relaxed);
  for (const Exchanged& each : exchanged) view_->Exchange(each.memstore, each.files, &garbage);
  in_call_ = false;
}

bool Scanner::Inside(const std::string& row) const {
  if (spec_.stop_row.empty()) return true;
  const auto order = CompareRows(opening_.order.rows, row, spec_.stop_row);
  if (order == 0) return spec_.include_stop_row;
  return spec_.reversed ? order > 0 : order < 0;
}

Status Scanner::Advance() {
  if (begun_) return spec_.reversed ? stream_->ToPreviousRow() : stream_->ToNextRow();
  begun_ = true;
  if (!spec_.reversed)
    return stream_->ToRowAtOrAfter(spec_.start_row, spec_.start_row.empty() || spec_.include_start_row);
  return spec_.start_row.empty() ? stream_->ToLastRow()
                                 : stream_->ToRowAtOrBefore(spec_.start_row, spec_.include_start_row);
}

// A reply may end after a batch, and after any cell if the client accepts partial rows.
bool Scanner::Full(const ScanLimits& limits, bool row_is_done) const {
  if (limits.max_results > 0 && progress_.results >= limits.max_results) return true;
  if (limits.max_rows > 0 && progress_.finished_rows >= limits.max_rows) return true;
  return limits.max_bytes > 0 && bytes_ >= limits.max_bytes &&
         (row_is_done || limits.allow_partial || spec_.batch_cells > 0);
}

// HBase's client counts a row twice when it assembles one batch of the row from several parts. Then it stops too early
// if the scan has a limit of rows. So a batch is not cut unless its cells are large.
bool Scanner::CutsResult(const ScanLimits& limits) const {
  if (!limits.allow_partial || limits.max_bytes == 0) return false;
  const bool whole = spec_.batch_cells > 0 && limits.max_rows > 0;
  return bytes_ >= limits.max_bytes + (whole ? kBytesOfBatch : 0);
}

bool Scanner::OutOfTime(const ScanLimits& limits) const {
  return limits.allow_heartbeat && opening_.params.clock->Now() >= limits.deadline;
}

// Checks the clock every few rows, more often in a call's first rows: a call that begins late ends after one row. A
// long row checks the clock itself (ReadRow).
bool Scanner::WantsClock() {
  if (spec_.filter == nullptr && rows_to_clock_ > 0 && bytes_ < bytes_to_clock_) {
    --rows_to_clock_;
    return false;
  }
  rows_to_clock_ = clock_pause_;
  clock_pause_ = std::min(2 * clock_pause_ + 1, kRowsToClock);
  bytes_to_clock_ = bytes_ + kBytesToClock;
  return true;
}

bool Scanner::TimeIsOver(const ScanLimits& limits) {
  if (!WantsClock()) return false;
  abandoned_ = opening_.params.clock->Now() >= limits.abandoned && !RATCHET_MUTANT("scan.for_nobody");
  if (abandoned_) return true;
  if (progress_.rows_scanned > 0 && OutOfTime(limits)) {
    progress_.heartbeat = true;
    return true;
  }
  now_ms_ = opening_.params.clock->WallMillis();
  return false;
}

Result<Scanner::Reading> Scanner::ReadResult(const ScanLimits& limits, ScanSink& sink, RowStream::Found found,
                                             std::uint32_t cells) {
  while (found == RowStream::Found::kCell) {
    if (spec_.batch_cells > 0 && cells == spec_.batch_cells) break;
    if (cells > 0 && CutsResult(limits)) break;
    const CellView cell = spec_.filter == nullptr ? stream_->cell() : spec_.filter->Transform(stream_->cell());
    RATCHET_TRY(CheckRowSize(HeldSize(cell)));
    sink.Add(cell);
    ++cells;
    stream_->Pop();
    do {
      RATCHET_ASSIGN(found, stream_->Peek());
    } while (found == RowStream::Found::kNotYet && !(limits.allow_partial && OutOfTime(limits)));
  }
  const bool partial = found != RowStream::Found::kRowEnd;
  sink.EndResult(partial);
  row_gave_ = true;
  row_cut_ = partial;
  ++progress_.results;
  progress_.finished_rows += partial ? 0 : 1;
  return Reading::kGoOn;
}

Result<Scanner::Reading> Scanner::EndPlainResult(const ScanLimits& limits, ScanSink& sink) {
  const std::uint32_t cells = std::exchange(plain_cells_, 0);
  RowStream::Found found = RowStream::Found::kNotYet;
  do {
    RATCHET_ASSIGN(found, stream_->Peek());
  } while (found == RowStream::Found::kNotYet && !(limits.allow_partial && OutOfTime(limits)));
  return ReadResult(limits, sink, found, cells);
}

bool Scanner::TakePlain(std::string_view key, const CellCursor& cursor, ScanSink& sink) {
  const std::string_view value = cursor.value();
  // The selection judges a row whose size may be too large. No cell is larger than its key and value.
  const std::uint64_t most = row_bytes_ + key.size() + value.size() + HeldSize(CellView());
  if (most > opening_.params.settings->max_row_bytes && !RATCHET_MUTANT("region.plain_any_row_size")) return false;
  if (!plain_->Take(key, value, now_ms_)) return false;
  const std::uint64_t size = HeldSize(plain_->cell());
  bytes_ += size;
  row_bytes_ += size;
  sink.Add(plain_->cell());
  ++plain_cells_;
  return true;
}

bool Scanner::ReadPlainRow(CellCursor& cursor, std::string_view* key, const ScanLimits& limits, ScanSink& sink) {
  constexpr int kMostOld = 8;  // the stream seeks behind more versions
  int old = 0;
  while (cursor.Step(key)) {
    if (!plain_->SameRow(*key)) return true;
    if (plain_->SameColumn(*key)) {
      if (!plain_->HidesColumn() || ++old > kMostOld) return false;
      continue;
    }
    if (CutsResult(limits) || !TakePlain(*key, cursor, sink)) return false;
    old = 0;
  }
  return false;
}

Result<Scanner::Reading> Scanner::ReadPlainRows(const ScanLimits& limits, ScanSink& sink) {
  constexpr int kMostRowsToPlain = 31;
  CellCursor& cursor = view_->Inner();
  std::string_view key = cursor.key();
  bool moved = false;
  Reading reading = Reading::kGoOn;
  while ((plain_end_.empty() || key < plain_end_) && !exchange_waits_.load(std::memory_order_relaxed)) {
    if ((moved && Full(limits, true)) || TimeIsOver(limits)) {
      reading = Reading::kStop;
      break;
    }
    row_bytes_ = 0;
    const bool begins_plain = TakePlain(key, cursor, sink);
    progress_.rows_scanned += begins_plain ? 1 : 0;
    if (!begins_plain || !ReadPlainRow(cursor, &key, limits, sink)) {
      rows_to_plain_ = plain_pause_ = std::min(2 * plain_pause_ + 1, kMostRowsToPlain);
      if (!begins_plain) break;
      last_row_ = plain_->cell().row;
      in_row_ = true;
      row_gave_ = false;
      RATCHET_TRY(stream_->Continue(plain_->last_key(), now_ms_));
      return reading;
    }
    sink.EndResult(false);
    plain_cells_ = 0;
    ++progress_.results;
    ++progress_.finished_rows;
    plain_pause_ = 0;
    moved = true;
  }
  if (!moved) return reading;
  last_row_ = plain_->cell().row;
  RATCHET_TRY(stream_->Arrived());
  return reading;
}

Result<Scanner::Reading> Scanner::ReadRow(const ScanLimits& limits, ScanSink& sink) {
  if (plain_cells_ > 0) {
    RATCHET_ASSIGN(const Reading reading, EndPlainResult(limits, sink));
    if (reading == Reading::kStop) return reading;
  }
  for (;;) {
    RATCHET_ASSIGN(const RowStream::Found found, stream_->Peek());
    if (found == RowStream::Found::kRowEnd) break;
    if (found == RowStream::Found::kNotYet) {
      if (!OutOfTime(limits)) continue;
      progress_.heartbeat = true;
      return Reading::kStop;
    }
    if (Full(limits, false)) return Reading::kStop;
    // the clock has been checked
    RATCHET_ASSIGN(const Reading reading, ReadResult(limits, sink, RowStream::Found::kCell, 0));
    if (reading == Reading::kStop) return reading;
  }
  return EndRow(limits, row_gave_);
}

Status Scanner::CheckRowSize(std::uint64_t more) {
  bytes_ += more;
  row_bytes_ += more;
  if (row_bytes_ > opening_.params.settings->max_row_bytes && !RATCHET_MUTANT("region.any_row_size"))
    return RowTooBig(opening_.params.settings->max_row_bytes);
  return Ok();
}

Result<Scanner::Reading> Scanner::EndRow(const ScanLimits& limits, bool gave) {
  in_row_ = false;
  if (!gave) ++progress_.rows_filtered;
  if (std::exchange(row_cut_, false)) ++progress_.finished_rows;  // the row ended with its last result
  if (spec_.filter != nullptr) {
    RATCHET_TRY(spec_.filter->status());
    spec_.filter->EndRow();
    if (spec_.filter->Done()) {
      progress_.filter_done = true;
      return Reading::kStop;
    }
  }
  RATCHET_TRY(Advance());
  return gave && HasRow() && Full(limits, true) ? Reading::kStop : Reading::kGoOn;
}

// The cells are kept until the row's end. So the reply's size does not cut the row, and a call ends early only before
// the row's first cell.
Result<Scanner::Reading> Scanner::ReadJudgedRow(const ScanLimits& limits, ScanSink& sink) {
  std::vector<Cell> cells;
  for (;;) {
    RATCHET_ASSIGN(const RowStream::Found found, stream_->Peek());
    if (found == RowStream::Found::kRowEnd) break;
    if (found == RowStream::Found::kNotYet) {
      if (!cells.empty() || !OutOfTime(limits)) continue;
      progress_.heartbeat = true;
      return Reading::kStop;
    }
    const CellView cell = spec_.filter->Transform(stream_->cell());
    RATCHET_TRY(CheckRowSize(HeldSize(cell)));
    cells.push_back(cell.Copy());
    stream_->Pop();
  }
  bytes_ -= row_bytes_;  // counted again when the row is returned
  spec_.filter->JudgeRow(cells);
  if (!cells.empty()) {
    for (const Cell& cell : cells) {
      bytes_ += HeldSize(cell);
      sink.Add(cell);
    }
    sink.EndResult(false);
    ++progress_.results;
    ++progress_.finished_rows;
  }
  return EndRow(limits, !cells.empty());
}

Status Scanner::ReadRows(const ScanLimits& limits, ScanSink& sink) {
  if (!in_row_ && spec_.filter != nullptr && spec_.filter->Done()) {
    progress_.filter_done = true;
    progress_.more_in_region = false;
    return Ok();
  }
  if (!begun_) RATCHET_TRY(Advance());
  for (;;) {
    if (in_row_) {
      const bool judged = spec_.filter != nullptr && spec_.filter->judges_rows();
      RATCHET_ASSIGN(const Reading reading, judged ? ReadJudgedRow(limits, sink) : ReadRow(limits, sink));
      if (progress_.filter_done) progress_.more_in_region = false;
      if (reading == Reading::kStop) return Ok();
    }
    if (plain_ && HasRow() && rows_to_plain_-- <= 0) {
      rows_to_plain_ = 0;
      RATCHET_ASSIGN(const Reading reading, ReadPlainRows(limits, sink));
      if (reading == Reading::kStop) return Ok();
      if (in_row_) continue;
    }
    if (!HasRow()) {
      progress_.more_in_region = false;
      return Ok();
    }
    if (TimeIsOver(limits)) return Ok();
    if (exchange_waits_.load(std::memory_order_relaxed)) {  // a long call exchanges flushed memstores, too
      Rest();
      RATCHET_TRY(Wake());
    }
    last_row_ = stream_->row();
    stream_->BeginRow(now_ms_);
    in_row_ = true;
    row_gave_ = false;
    row_bytes_ = 0;
    ++progress_.rows_scanned;
    if (spec_.filter != nullptr && spec_.filter->RowKeyIsOut(last_row_)) {
      RATCHET_ASSIGN(const Reading reading, EndRow(limits, false));
      if (!progress_.filter_done) continue;
      --progress_.rows_scanned;  // it was read only to find the end
      progress_.more_in_region = false;
      if (reading == Reading::kStop) return Ok();
    }
  }
}

Result<ScanProgress> Scanner::Next(const ScanLimits& limits, ScanSink& sink) {
  RATCHET_TRY(admission_->CheckReadable());
  progress_ = {};
  abandoned_ = false;
  bytes_ = row_bytes_ = 0;
  rows_to_clock_ = clock_pause_ = 0;
  const TimePoint::duration waited_before = FileReadTimeOfThread();
  Status read = Wake();
  if (read.ok()) read = ReadRows(limits, sink);
  Rest();
  data_.reads.fetch_add(progress_.rows_scanned, std::memory_order_relaxed);
  RegionCounts::OfProcess().scanned_rows.fetch_add(progress_.rows_scanned, std::memory_order_relaxed);
  if (!read.ok()) return read.error();
  if (abandoned_) return Error(Code::kTimeout, "the client's time for this call is over");
  progress_.cursor_row = last_row_;
  progress_.file_wait = FileReadTimeOfThread() - waited_before;
  return progress_;
}

Result<ScanChunk> Scanner::Next(const ScanLimits& limits) {
  ResultCollector collector;
  ScanChunk chunk;
  RATCHET_ASSIGN(static_cast<ScanProgress&>(chunk), Next(limits, collector));
  chunk.rows = std::move(collector.rows);
  return chunk;
}

}  // namespace ratchet::regionserver
