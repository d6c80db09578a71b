#include "regionserver/region/region_core.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "regionserver/region/region_errors.h"
#include "regionserver/region/scan_registry.h"
#include "regionserver/store/ownership.h"
#include "regionserver/store/row_range.h"

namespace ratchet::regionserver {
namespace {

// A table may have its own limit, as in HBase.
std::uint64_t MaxCellBytes(const OpenParams& params) {
  const std::optional<std::int64_t> own = params.table->Number("hbase.server.keyvalue.maxsize");
  return own ? static_cast<std::uint64_t>(std::max<std::int64_t>(*own, 0)) : params.settings->max_cell_bytes;
}

}  // namespace

std::size_t RegionCore::SlotOf(std::string_view row) {
  return std::hash<std::string_view>{}(row) % std::tuple_size_v<DeleteTimes>;
}

std::int64_t RegionCore::NewestDelete(std::string_view row) const {
  return newest_delete_ ? (*newest_delete_)[SlotOf(row)] : deletes_before_;
}

void RegionCore::NoteDelete(std::string_view row, std::int64_t timestamp) {
  if (!newest_delete_) {
    newest_delete_ = std::make_unique<DeleteTimes>();
    newest_delete_->fill(deletes_before_);
  }
  (*newest_delete_)[SlotOf(row)] = timestamp;
}

RegionCore::RegionCore(OpenParams the_params)
    : params(std::move(the_params)),
      encoded_name(params.info.encoded_name()),
      order{params.info.IsMeta() ? RowOrder::kMeta : RowOrder::kPlain},
      families(params.table.content()->families),
      max_cell_bytes(MaxCellBytes(params)),
      shipped_families(params.table.content()->shipped_families),
      scan_registry(std::make_unique<ScanRegistry>()),
      scans(*scan_registry),
      directory_(params.directory),
      store_files_(directory_, order, params.damaged) {}

RegionCore::~RegionCore() = default;

Status RegionCore::CheckOpening() { return CheckOwner(*directory_, params.open_number); }

Status RegionCore::CheckReadable() {
  MutexLock lock(state_mutex_);
  if (!lost_ && !unsure_ && (state_ == State::kOpen || state_ == State::kClosing)) return Ok();
  return NotServingLocked();
}

Status RegionCore::NotServingLocked() const {
  if (unsure_ && !lost_) return NotServing(encoded_name, "this server ends");
  switch (state_) {
    case State::kOpening:
      return MakeError(Code::kUnavailable, "region " + encoded_name + " is opening", rpc::exception::kRegionOpening);
    case State::kClosing: return NotServing(encoded_name, "it is closing");
    default: return NotServing(encoded_name, lost_ ? "it was taken over" : "it was closed");
  }
}

Status RegionCore::CheckServing() {
  RATCHET_TRY(CheckReadable());
  const Status owned = CheckOwnership();
  if (!owned.ok()) {
    if (params.refused && owned.error().code() != Code::kFenced && owned.error().code() != Code::kAborted)
      params.refused(owned.error());
    return NotServing(encoded_name, owned.error().message());
  }
  // Check again: a close may have finished during the check of the files, and another server may serve already.
  return CheckReadable();
}

Status RegionCore::CheckOwnership() {
  RATCHET_TRY(params.log->Check());
  const Status opening = CheckOpening();
  if (!opening.ok() && opening.error().code() == Code::kFenced) Lose(opening.error());
  return opening;
}

Status RegionCore::CheckWritten() {
  const Status owned = CheckOwnership();
  if (owned.ok()) return owned;
  {
    MutexLock lock(state_mutex_);
    // An opening that has answered no request just fails; the next opening starts from what this one wrote.
    if (lost_ || unsure_ || state_ == State::kOpening || RATCHET_MUTANT("region.go_on_when_unsure")) return owned;
    unsure_ = true;
  }
  RATCHET_LOG(kError, "region {}: the manifest is written, but its owner cannot be determined: {}", encoded_name,
              owned.error().ToString());
  if (params.unsure) params.unsure(owned.error());
  return owned;
}

ReadPoint RegionCore::AcquireReadPoint() {
  MutexLock lock(state_mutex_);
  return {view_, read_point_};
}

void RegionCore::Lose(const Error& error) {
  {
    MutexLock lock(state_mutex_);
    if (lost_) return;
    lost_ = true;
    state_ = State::kClosed;
    drained_.NotifyAll();
  }
  row_locks->Abandon();
  RATCHET_LOG(kWarn, "region {} is lost: {}", encoded_name, error.ToString());
  if (params.lost) params.lost(error);
}

void RegionCore::Abandon() {
  {
    MutexLock lock(state_mutex_);
    lost_ = true;
    state_ = State::kClosed;
    drained_.NotifyAll();
  }
  row_locks->Abandon();
}

// Checks the limit of the whole server. Meta is exempt, because its changes let other regions free memory.
Status RegionCore::CheckBudget() const {
  const MemstoreBudget* budget = params.settings->budget.get();
  if (budget == nullptr || params.info.IsMeta()) return Ok();
  const std::uint64_t used = budget->used.load(std::memory_order_relaxed);
  if (used > budget->flush_at && budget->make_room) budget->make_room();
  if (used <= budget->limit) return Ok();
  return TooBusy(fmt::format("this server's memstores hold {} bytes, more than {} (--memstore-total-bytes); flushing",
                             used, budget->limit.Get()));
}

Status RegionCore::Admit() {
  RATCHET_TRY(CheckBudget());
  MutexLock lock(state_mutex_);
  if (lost_ || unsure_ || state_ != State::kOpen) return NotServingLocked();
  RATCHET_TRY(CheckRoomLocked());
  ++in_flight_;
  return Ok();
}

Status RegionCore::CheckRoom() {
  RATCHET_TRY(CheckBudget());
  MutexLock lock(state_mutex_);
  return CheckRoomLocked();
}

Status RegionCore::CheckRoomLocked() const {
  const std::uint64_t bytes = view_->active->bytes() + (view_->flushing ? view_->flushing->bytes() : 0);
  if (bytes <= params.settings->blocking_bytes) return Ok();
  return TooBusy(fmt::format("region {}: {} bytes wait for a flush, more than {}", encoded_name, bytes,
                             params.settings->blocking_bytes.Get()));
}

void RegionCore::Discharge() {
  MutexLock lock(state_mutex_);
  RATCHET_CHECK(in_flight_ > 0, "region {} discharged more than it admitted", encoded_name);
  if (--in_flight_ == 0) drained_.NotifyAll();
}

void RegionCore::StartNonceTime() {
  const std::optional<std::int64_t> used = nonces.newest_ms();
  const std::int64_t horizon = nonces.horizon_ms();
  nonce_time_begun_at_ = params.clock->Now();
  // Without any nonce, the horizon is one full nonce memory before the time at which it was written.
  nonce_time_begin_ms_ = used                   ? *used
                         : horizon != INT64_MIN ? horizon + params.settings->nonce_memory.count()
                                                : params.clock->WallMillis();
}

std::int64_t RegionCore::NonceNow() const {
  if (RATCHET_MUTANT("region.nonces_by_clock")) return params.clock->WallMillis();
  const auto open_for = std::chrono::duration_cast<Millis>(params.clock->Now() - nonce_time_begun_at_);
  return nonce_time_begin_ms_ + open_for.count();
}

std::int64_t RegionCore::NonceTimeOf(std::int64_t wall_ms) const {
  return NonceNow() - (params.clock->WallMillis() - wall_ms);
}

std::int64_t RegionCore::AssignTimestamp(const std::set<std::string>& rows, bool puts, bool deletes,
                                         std::int64_t floor) {
  const std::int64_t now = params.clock->WallMillis();
  MutexLock lock(staging_);
  if (RATCHET_MUTANT("region.clock_only")) return std::max(now, floor);
  // Changes of meta never share a millisecond. In other tables only a put must not share one with an earlier delete of
  // its row, also if its unit has deletes of its own.
  std::int64_t least = params.info.IsMeta() ? greatest_timestamp_ + 1 : greatest_timestamp_;
  if (puts)
    for (const std::string& row : rows) least = std::max(least, NewestDelete(row) + 1);
  greatest_timestamp_ = std::max(now, least);
  shown_timestamp_.store(greatest_timestamp_, std::memory_order_relaxed);
  if (deletes)
    for (const std::string& row : rows) NoteDelete(row, greatest_timestamp_);
  return std::max(greatest_timestamp_, floor);
}

std::int64_t RegionCore::TimestampAfter(std::int64_t old, std::int64_t& now) {
  // Changes of one cell that come faster than one a millisecond for this long share timestamps again, so that the
  // timestamps of a region stay near the clock.
  constexpr std::int64_t kMostAheadMs = 1'000;
  if (old < now) return now;
  if (old >= kLatestTimestamp - 1) return old;
  const std::int64_t next = old + 1;
  const std::int64_t clock = params.clock->WallMillis();
  MutexLock lock(staging_);
  if (old > greatest_timestamp_) return next;  // chosen by a client
  if (next - clock > kMostAheadMs) return old;
  if (RATCHET_MUTANT("region.counters_run_ahead")) return next;
  greatest_timestamp_ = std::max(greatest_timestamp_, next);
  shown_timestamp_.store(greatest_timestamp_, std::memory_order_relaxed);
  now = next;
  return next;
}

Status RegionCore::CheckRow(std::string_view row) const {
  if (row.empty()) return DoNotRetry(Code::kInvalidArgument, "the row key is empty");
  if (row.size() > kMaxRowLength)
    return DoNotRetry(Code::kInvalidArgument,
                      fmt::format("the row key has {} bytes, more than {}", row.size(), kMaxRowLength));
  if (params.info.IsMeta() || params.info.Contains(row)) return Ok();
  return MakeError(Code::kInvalidArgument, fmt::format("the row lies outside region {}", params.info.name()),
                   rpc::exception::kWrongRegion);
}

const FamilyRules* RegionCore::RulesFor(std::string_view family) const {
  const auto found = families.find(family);
  return found == families.end() ? nullptr : &found->second;
}

Status RegionCore::CheckCellSize(const CellView& cell) const {
  const std::uint64_t size = EncodedCellSize(cell);
  if (max_cell_bytes == 0 || size <= max_cell_bytes || RATCHET_MUTANT("region.any_cell_size")) return Ok();
  return DoNotRetry(
      Code::kInvalidArgument,
      fmt::format("Cell with size {} exceeds limit of {} bytes (hbase.server.keyvalue.maxsize) in region {}", size,
                  max_cell_bytes, params.info.name()));
}

Status RegionCore::CheckColumns(const ColumnSelection& columns) const {
  for (const auto& [family, qualifiers] : columns)
    if (RulesFor(family) == nullptr)
      return MakeError(Code::kInvalidArgument,
                       fmt::format("column family {} does not exist in region {}", family, params.info.name()),
                       rpc::exception::kNoSuchColumnFamily);
  return Ok();
}

std::string RegionCore::SplitRow() {
  std::vector<std::shared_ptr<const StoreFiles::Reader>> files = AcquireReadPoint().view->files;
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a->info().bytes > b->info().bytes; });
  for (const auto& file : files) {
    const RowRange range = Shared({file->info().low, file->info().high}, {params.info.start_key, params.info.end_key});
    std::vector<std::string> rows = file->SampledRows();
    std::erase_if(rows, [&](const std::string& row) { return !range.Contains(row) || row == params.info.start_key; });
    if (!rows.empty()) return rows[rows.size() / 2];
  }
  return {};
}

namespace {

// A file without samples counts as a whole, because all of it may belong to the region.
std::uint64_t OwnBytesOf(const StoreFiles::Reader& file, const RowRange& region) {
  const StoreFileInfo& info = file.info();
  const std::vector<std::string> rows = file.SampledRows();
  if (rows.empty()) return info.bytes;
  const RowRange range = Shared({info.low, info.high}, region);
  const auto own = std::count_if(rows.begin(), rows.end(), [&](const std::string& row) { return range.Contains(row); });
  return info.bytes / rows.size() * static_cast<std::uint64_t>(own);
}

}  // namespace

std::uint64_t RegionCore::OwnBytes() {
  std::vector<std::shared_ptr<const StoreFiles::Reader>> files;
  {
    const MutexLock lock(state_mutex_);
    if (!view_) return 0;
    files = view_->files;
  }
  const RowRange region{params.info.start_key, params.info.end_key};
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += file->info().cut() ? OwnBytesOf(*file, region) : file->info().bytes;
  return bytes;
}

RegionStatus RegionCore::GetStatus() {
  RegionStatus status;
  status.open_number = params.open_number;
  status.reads = reads.load(std::memory_order_relaxed);
  status.writes = writes.load(std::memory_order_relaxed);
  status.greatest_timestamp = shown_timestamp_.load(std::memory_order_relaxed);
  const MutexLock lock(state_mutex_);
  status.read_point = read_point_;
  status.flushed_sequence = flushed_sequence_;
  if (!view_) return status;
  status.memstore_bytes = view_->active->bytes() + (view_->flushing ? view_->flushing->bytes() : 0);
  status.store_files = view_->files.size();
  for (const auto& file : view_->files) {
    const StoreFileInfo& info = file->info();
    status.store_bytes += info.bytes;
    status.uncompressed_bytes += std::max(info.bytes, file->raw_bytes());
    if (info.major_ms == 0) continue;
    const bool first = status.oldest_major_ms == 0;
    status.oldest_major_ms = first ? info.major_ms : std::min(status.oldest_major_ms, info.major_ms);
  }
  return status;
}

}  // namespace ratchet::regionserver
