#include "regionserver/region/row_reader.h"

#include <memory>
#include <utility>

#include "regionserver/region/region_errors.h"
#include "regionserver/region/row_stream.h"

namespace ratchet::regionserver {
namespace {

// Limits of a short read: cells that are looked at, and bytes that are returned.
constexpr int kFewLooks = 500;
constexpr std::uint64_t kFewBytes = 64 << 10;

class Collector final : public CellSink {
 public:
  void Add(const CellView& cell) override { cells.push_back(cell.Copy()); }
  std::vector<Cell> cells;
};

// Two cursors as one, without owning the first.
class Borrowed final : public CellCursor {
 public:
  explicit Borrowed(CellCursor& cursor) : cursor_(cursor) {}
  void Seek(std::string_view key) override { cursor_.Seek(key); }
  void SeekBefore(std::string_view key) override { cursor_.SeekBefore(key); }
  void SeekToLast() override { cursor_.SeekToLast(); }
  void Next() override { cursor_.Next(); }
  bool Step(std::string_view* key) override { return cursor_.Step(key); }
  void Prev() override { cursor_.Prev(); }
  [[nodiscard]] bool Valid() const override { return cursor_.Valid(); }
  [[nodiscard]] std::string_view key() const override { return cursor_.key(); }
  [[nodiscard]] std::string_view value() const override { return cursor_.value(); }
  [[nodiscard]] Status status() const override { return cursor_.status(); }

 private:
  CellCursor& cursor_;
};

}  // namespace

RowReader::RowReader(const Families& families, ReadPoint point, KeyOrder order, std::uint64_t max_row_bytes,
                     ReadSource from)
    : families_(families), order_(order), point_(std::move(point)), max_row_bytes_(max_row_bytes), from_(from) {}

CellCursor& RowReader::CursorOf(const std::string& row) {
  if (all_rows_) return *all_rows_;
  if (!one_row_ || row_ != row) {
    one_row_.emplace(*point_.view, order_, row, from_);
    row_ = row;
    one_row_->Resume();
  }
  return *one_row_;
}

Status RowReader::ReadFrom(CellCursor& cursor, const std::string& row, const ReadSpec& spec, std::int64_t now_ms,
                           CellSink& sink, std::uint64_t most) const {
  const RowQuery query = MakeRowQuery(families_, spec);
  if (query.empty()) return Ok();
  if (spec.filter != nullptr) return ReadFiltered(cursor, row, query, *spec.filter, now_ms, sink, most);
  RowStream stream(cursor, query, order_, point_.sequence, nullptr);
  RATCHET_TRY(stream.ToRowAtOrAfter(row, true));
  if (!stream.has_row() || stream.row() != row) return Ok();
  stream.BeginRow(now_ms);
  std::uint64_t bytes = 0;
  const bool soon = from_ == ReadSource::kCache;
  int looks = soon ? kFewLooks : RowStream::kMostLooks;
  for (std::uint64_t taken = 0; most == 0 || taken < most;) {
    RATCHET_ASSIGN(const RowStream::Found found, stream.Peek(&looks));
    if (found == RowStream::Found::kRowEnd) break;
    if (found == RowStream::Found::kCell) bytes += HeldSize(stream.cell());
    if (soon && (found == RowStream::Found::kNotYet || bytes > kFewBytes))
      return Error(Code::kResourceExhausted, "the row is too long for a short read");
    if (!soon) looks = RowStream::kMostLooks;
    if (found == RowStream::Found::kNotYet) continue;
    if (bytes > max_row_bytes_) return RowTooBig(max_row_bytes_);
    sink.Add(stream.cell());
    ++taken;
    stream.Pop();
  }
  return Ok();
}

// Called for a filter that may judge the row by all of its cells.
Status RowReader::ReadFiltered(CellCursor& cursor, const std::string& row, const RowQuery& query, ReadFilter& filter,
                               std::int64_t now_ms, CellSink& sink, std::uint64_t most) const {
  RowStream stream(cursor, query, order_, point_.sequence, &filter);
  RATCHET_TRY(stream.ToRowAtOrAfter(row, true));
  if (!stream.has_row() || stream.row() != row || filter.Done()) return Ok();
  const bool out = filter.RowKeyIsOut(row);
  RATCHET_TRY(filter.status());
  if (out) {
    filter.EndRow();
    return Ok();
  }
  stream.BeginRow(now_ms);
  std::vector<Cell> cells;
  std::uint64_t bytes = 0;
  for (;;) {
    RATCHET_ASSIGN(const RowStream::Found found, stream.Peek());
    if (found == RowStream::Found::kRowEnd) break;
    if (found == RowStream::Found::kNotYet) continue;
    const CellView cell = filter.Transform(stream.cell());
    bytes += HeldSize(cell);
    if (bytes > max_row_bytes_) return RowTooBig(max_row_bytes_);
    cells.push_back(cell.Copy());
    stream.Pop();
  }
  filter.JudgeRow(cells);
  filter.EndRow();
  RATCHET_TRY(filter.status());
  if (most > 0 && cells.size() > most) cells.resize(most);
  for (const Cell& cell : cells) sink.Add(cell);
  return Ok();
}

Status RowReader::Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms, CellSink& sink,
                       std::uint64_t most, const PendingOfRow& pending) {
  CellCursor& cursor = CursorOf(row);
  std::vector<std::unique_ptr<CellCursor>> all;
  for (const PendingCells* cells : {pending.planned, pending.staged})
    if (cells != nullptr && !cells->empty()) all.push_back(cells->NewCursor());
  if (all.empty()) return ReadFrom(cursor, row, spec, now_ms, sink, most);
  all.push_back(std::make_unique<Borrowed>(cursor));
  return ReadFrom(*MergeCursors(std::move(all), order_), row, spec, now_ms, sink, most);
}

Result<std::vector<Cell>> RowReader::Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms,
                                          const PendingOfRow& pending) {
  Collector collector;
  RATCHET_TRY(Read(row, spec, now_ms, collector, 0, pending));
  return std::move(collector.cells);
}

Result<std::optional<std::string>> RowReader::RowAtOrBefore(std::string_view row, bool inclusive) {
  if (!all_rows_) {
    all_rows_.emplace(*point_.view, order_);
    all_rows_->Resume();
  }
  const RowQuery nothing;
  RowStream stream(*all_rows_, nothing, order_, point_.sequence, nullptr);
  RATCHET_TRY(stream.ToRowAtOrBefore(row, inclusive));
  return stream.has_row() ? std::optional(stream.row()) : std::nullopt;
}

}  // namespace ratchet::regionserver
