#include "regionserver/region/region.h"

#include <algorithm>
#include <utility>

#include "common/base/mutant.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/region/row_reader.h"
#include "regionserver/store/row_range.h"

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

// Returns how many bytes of `file` are in the range of the region. A file without samples counts as a whole, because
// all of it may belong to the region.
std::uint64_t OwnBytesOf(const StoreFiles::Reader& file, const RowRange& region) {
  const StoreFileInfo& info = file.info();
  const std::vector<std::string> rows = file.SampledRows();
  if (rows.empty()) return info.bytes;
  const RowRange range = Shared({info.low, info.high}, region);
  const auto own = std::count_if(rows.begin(), rows.end(), [&](const std::string& row) { return range.Contains(row); });
  return info.bytes / rows.size() * static_cast<std::uint64_t>(own);
}

}  // namespace

Region::Region(Private /*only_open*/, OpenParams params)
    : opening_(std::move(params)),
      admission_(opening_),
      data_(opening_),
      path_(opening_, admission_, data_),
      files_(opening_, admission_, data_, path_),
      lifecycle_(opening_, admission_, data_, path_, files_) {}

Region::~Region() = default;

Status Region::CheckServing() {
  const TimePoint began = opening_.params.clock->Now();
  const Status serves = admission_.CheckServing();
  RegionCounts::OfProcess().check.Note(opening_.params.clock->Now() - began);
  return serves;
}

Status Region::CheckMark() {
  const Status mark = admission_.CheckOpening();
  if (!mark.ok() && mark.error().code() == Code::kFenced) admission_.Lose(mark.error());
  return mark;
}

namespace {

// S24 (visible after sync): a refusal because of the schema depends on this opening, so it passes CHECK. A server that
// was paused does not know the families that were added since.
Status Proven(Region& region, const Status& verdict) {
  if (verdict.ok() || RATCHET_MUTANT("region.refuse_without_check")) return verdict;
  RATCHET_TRY(region.CheckServing());
  return verdict;
}

}  // namespace

Status Region::Get(const GetSpec& spec, CellSink& sink) {
  RATCHET_TRY(admission_.CheckReadable());
  RATCHET_TRY(opening_.CheckRow(spec.row));
  const Status columns = opening_.CheckColumns(spec.columns);
  if (spec.cached_only && !columns.ok()) return columns;  // the caller repeats it
  RATCHET_TRY(Proven(*this, columns));
  RowReader reader(opening_.families(), data_.Acquire(), opening_.order, opening_.params.settings->max_row_bytes,
                   spec.cached_only ? ReadSource::kCache : ReadSource::kDisk);
  const std::int64_t now_ms = opening_.params.clock->WallMillis();
  const Status read = spec.closest_row_before ? ReadClosest(reader, spec, now_ms, sink)
                                              : reader.Read(spec.row, spec, now_ms, sink, spec.most_cells);
  if (spec.cached_only && !read.ok()) return read;  // the caller repeats it
  data_.reads.fetch_add(1, std::memory_order_relaxed);
  RegionCounts::OfProcess().gets.fetch_add(1, std::memory_order_relaxed);
  return read;
}

Result<std::vector<Cell>> Region::Get(const GetSpec& spec) {
  CellCollector collector;
  RATCHET_TRY(Get(spec, collector));
  return std::move(collector.cells);
}

Result<std::unique_ptr<Scanner>> Region::Scan(ScanSpec spec) {
  RATCHET_TRY(admission_.CheckReadable());
  RATCHET_TRY(Proven(*this, opening_.CheckColumns(spec.columns)));
  RegionCounts::OfProcess().scans.fetch_add(1, std::memory_order_relaxed);
  return std::make_unique<Scanner>(Kept(), opening_, data_, std::move(spec));
}

Status Region::CheckFamily(const std::string& family) { return Proven(*this, opening_.CheckColumns({{family, {}}})); }

Result<std::vector<std::string>> Region::StoreFileNames(const std::vector<std::string>& families) {
  RATCHET_TRY(admission_.CheckReadable());
  ColumnSelection wanted;
  for (const std::string& family : families) wanted[family];
  RATCHET_TRY(Proven(*this, opening_.CheckColumns(wanted)));
  std::vector<std::string> names;
  for (const auto& file : data_.Files()) {
    const StoreFileInfo& info = file->info();
    const bool gone = !families.empty() && std::all_of(families.begin(), families.end(), [&info](const auto& family) {
      return info.dead.contains(family);
    });
    if (!gone) names.push_back(info.name);
  }
  return names;
}

std::string Region::SplitRow() const {
  const RegionInfo& region = info();
  ReadableFiles files = data_.Files();
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a->info().bytes > b->info().bytes; });
  for (const auto& file : files) {
    const RowRange range = Shared({file->info().low, file->info().high}, {region.start_key, region.end_key});
    std::vector<std::string> rows = file->SampledRows();
    std::erase_if(rows, [&](const std::string& row) { return !range.Contains(row) || row == region.start_key; });
    if (!rows.empty()) return rows[rows.size() / 2];
  }
  return {};
}

std::uint64_t Region::OwnBytes() const {
  const RowRange region{info().start_key, info().end_key};
  std::uint64_t bytes = 0;
  for (const auto& file : data_.Files()) bytes += file->info().cut() ? OwnBytesOf(*file, region) : file->info().bytes;
  return bytes;
}

RegionStatus Region::GetStatus() const {
  RegionStatus status;
  status.open_number = opening_.params.open_number;
  path_.FillStatus(status);
  data_.FillStatus(status);
  return status;
}

void Region::Mutate(AtomicMutation mutation, MutateDone done) {
  std::vector<AtomicMutation> one;
  one.push_back(std::move(mutation));
  MutateBatch(std::move(one), [done = std::move(done)](std::vector<Result<MutationResult>> results) {
    done(std::move(results.front()));
  });
}

void Region::MutateBatch(std::vector<AtomicMutation> mutations, BatchDone done,
                         std::shared_ptr<ResultAllowance> results) {
  path_.MutateBatch(Kept(), std::move(mutations), std::move(done), std::move(results));
}

}  // namespace ratchet::regionserver
