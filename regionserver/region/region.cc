#include "regionserver/region/region.h"

#include <algorithm>
#include <utility>

#include "regionserver/region/region_core.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/region/row_reader.h"
#include "regionserver/region/scan_cursor.h"

namespace ratchet::regionserver {
namespace {

// Returns the greatest row at or before spec.row, in the same table, that has selected cells. Old clients look up
// hbase:meta this way.
Status ReadClosest(RowReader& reader, const GetSpec& spec, std::int64_t now_ms, CellSink& sink) {
  const auto table_of = [](std::string_view row) { return row.substr(0, row.find(',')); };
  RATCHET_ASSIGN(std::optional<std::string> row, reader.RowAtOrBefore(spec.row, true));
  while (row && table_of(*row) == table_of(spec.row)) {
    RATCHET_ASSIGN(const std::vector<Cell> cells, reader.Read(*row, spec, now_ms));
    for (const Cell& cell : cells) sink.Add(cell);
    if (!cells.empty()) return Ok();
    const std::string before = std::move(*row);
    RATCHET_ASSIGN(row, reader.RowAtOrBefore(before, false));
  }
  return Ok();
}

class CellCollector final : public CellSink {
 public:
  void Add(const CellView& cell) override { cells.push_back(cell.Copy()); }
  std::vector<Cell> cells;
};

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

Scanner::Scanner(std::unique_ptr<ScanCursor> cursor) : cursor_(std::move(cursor)) {}
Scanner::~Scanner() = default;
Result<ScanProgress> Scanner::Next(const ScanLimits& limits, ScanSink& sink) { return cursor_->Next(limits, sink); }
Result<ScanChunk> Scanner::Next(const ScanLimits& limits) {
  ResultCollector collector;
  ScanChunk chunk;
  RATCHET_ASSIGN(static_cast<ScanProgress&>(chunk), cursor_->Next(limits, collector));
  chunk.rows = std::move(collector.rows);
  return chunk;
}
std::uint64_t Scanner::read_point() const { return cursor_->read_point(); }

Region::Region(std::shared_ptr<RegionCore> core) : core_(std::move(core)) {}
Region::~Region() = default;

Result<std::shared_ptr<Region>> Region::Open(OpenParams params) {
  auto core = std::make_shared<RegionCore>(std::move(params));
  const Status opened = core->Open();
  if (!opened.ok()) return opened.error().Annotate("opening of region " + core->encoded_name);
  return std::shared_ptr<Region>(new Region(std::move(core)));
}

const RegionInfo& Region::info() const { return core_->params.info; }
const std::string& Region::encoded_name() const { return core_->encoded_name; }
const TableDescriptor& Region::table() const { return *core_->params.table; }
std::uint64_t Region::first_sequence() const { return core_->first_sequence; }
std::uint64_t Region::schema_number() const { return core_->params.schema_number; }
Status Region::CheckServing() const {
  const TimePoint began = core_->params.clock->Now();
  const Status serves = core_->CheckServing();
  RegionCounts::OfProcess().check.Note(core_->params.clock->Now() - began);
  return serves;
}
Status Region::CheckMark() const {
  const Status mark = core_->CheckOpening();
  if (!mark.ok() && mark.error().code() == Code::kFenced) core_->Lose(mark.error());
  return mark;
}
std::string Region::SplitRow() const { return core_->SplitRow(); }
RegionStatus Region::GetStatus() const { return core_->GetStatus(); }
bool Region::MayHaveLogged() const { return core_->records_marks() || core_->writes.load() > 0; }
std::uint64_t Region::OwnBytes() const { return core_->OwnBytes(); }
void Region::Abandon() { core_->Abandon(); }
Status Region::Flush() { return core_->Flush(); }
Result<CopyReport> Region::CopyTo(bool flush, CopyTarget target) { return core_->CopyTo(flush, std::move(target)); }
Status Region::Compact(bool major) { return core_->Compact(major); }
Status Region::Close() { return core_->Close(); }

Status Region::Get(const GetSpec& spec, CellSink& sink) {
  RATCHET_TRY(core_->CheckReadable());
  RATCHET_TRY(core_->CheckRow(spec.row));
  RATCHET_TRY(core_->CheckColumns(spec.columns));
  core_->reads.fetch_add(1, std::memory_order_relaxed);
  RegionCounts::OfProcess().gets.fetch_add(1, std::memory_order_relaxed);
  RowReader reader(core_->families, core_->AcquireReadPoint(), core_->order, core_->params.settings->max_row_bytes);
  const std::int64_t now_ms = core_->params.clock->WallMillis();
  return spec.closest_row_before ? ReadClosest(reader, spec, now_ms, sink)
                                 : reader.Read(spec.row, spec, now_ms, sink, spec.most_cells);
}

Result<std::vector<Cell>> Region::Get(const GetSpec& spec) {
  CellCollector collector;
  RATCHET_TRY(Get(spec, collector));
  return std::move(collector.cells);
}

Result<std::unique_ptr<Scanner>> Region::Scan(ScanSpec spec) {
  RATCHET_TRY(core_->CheckReadable());
  RATCHET_TRY(core_->CheckColumns(spec.columns));
  RegionCounts::OfProcess().scans.fetch_add(1, std::memory_order_relaxed);
  return std::unique_ptr<Scanner>(new Scanner(std::make_unique<ScanCursor>(core_, std::move(spec))));
}

Status Region::CheckFamily(const std::string& family) const { return core_->CheckColumns({{family, {}}}); }

Result<std::vector<std::string>> Region::StoreFileNames(const std::vector<std::string>& families) const {
  RATCHET_TRY(core_->CheckReadable());
  ColumnSelection wanted;
  for (const std::string& family : families) wanted[family];
  RATCHET_TRY(core_->CheckColumns(wanted));
  std::vector<std::string> names;
  for (const auto& file : core_->AcquireReadPoint().view->files) {
    const StoreFileInfo& info = file->info();
    const bool gone = !families.empty() && std::all_of(families.begin(), families.end(), [&info](const auto& family) {
      return info.dead.contains(family);
    });
    if (!gone) names.push_back(info.name);
  }
  return names;
}

void Region::Mutate(AtomicMutation mutation, MutateDone done) {
  std::vector<AtomicMutation> one;
  one.push_back(std::move(mutation));
  core_->MutateBatch(
      std::move(one),
      [done = std::move(done)](std::vector<Result<MutationResult>> results) { done(std::move(results.front())); },
      nullptr);
}

void Region::MutateBatch(std::vector<AtomicMutation> mutations, BatchDone done,
                         std::shared_ptr<ResultAllowance> results) {
  core_->MutateBatch(std::move(mutations), std::move(done), std::move(results));
}

}  // namespace ratchet::regionserver
