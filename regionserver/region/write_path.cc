#include "regionserver/region/write_path.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {
namespace {

bool HasDelete(const AtomicMutation& unit) {
  return std::any_of(unit.mutations.begin(), unit.mutations.end(), [](const Mutation& mutation) {
    return mutation.kind == MutationKind::kDelete ||  // a delete without cells is valid, too
           std::any_of(mutation.cells.begin(), mutation.cells.end(),
                       [](const Cell& cell) { return IsDelete(cell.type); });
  });
}

bool HasOnlyDeletes(const AtomicMutation& unit) {
  return std::all_of(unit.mutations.begin(), unit.mutations.end(),
                     [](const Mutation& mutation) { return mutation.kind == MutationKind::kDelete; });
}

}  // namespace

// Checks the limit of the whole server. Meta is exempt, because its changes let other regions free memory.
Status WritePath::CheckBudget() const {
  const MemstoreBudget* budget = opening_.params.settings->budget.get();
  if (budget == nullptr || opening_.params.info.IsMeta()) return Ok();
  const std::uint64_t used = budget->used.load(std::memory_order_relaxed);
  if (used > budget->FlushAt() && budget->make_room) budget->make_room();
  if (used <= budget->limit) return Ok();
  return TooBusy(fmt::format("this server's memstores hold {} bytes, more than {} (--memstore-total-bytes); flushing",
                             used, budget->limit.Get()));
}

Status WritePath::Admit() {
  RATCHET_TRY(CheckBudget());
  RATCHET_TRY(admission_.Admit());
  const Status room = data_.CheckRoom();
  if (!room.ok()) admission_.Discharge();
  return room;
}

Status WritePath::CheckRoom() const {
  RATCHET_TRY(CheckBudget());
  return data_.CheckRoom();
}

std::size_t WritePath::SlotOf(std::string_view row) {
  return std::hash<std::string_view>{}(row) % std::tuple_size_v<DeleteTimes>;
}

std::int64_t WritePath::NewestDelete(std::string_view row) const {
  return newest_delete_ ? (*newest_delete_)[SlotOf(row)] : deletes_before_;
}

void WritePath::NoteDelete(std::string_view row, std::int64_t timestamp) {
  if (!newest_delete_) {
    newest_delete_ = std::make_unique<DeleteTimes>();
    newest_delete_->fill(deletes_before_);
  }
  (*newest_delete_)[SlotOf(row)] = timestamp;
}

std::int64_t WritePath::AssignTimestamp(const AtomicMutation& unit, std::int64_t floor) {
  const std::set<std::string> rows = RowsOf(unit);
  const bool deletes = HasDelete(unit);
  const bool puts = !HasOnlyDeletes(unit);
  const std::int64_t now = opening_.params.clock->WallMillis();
  MutexLock lock(staging_);
  // Changes of meta never share a millisecond. In other tables only a put must not share one with an earlier delete of
  // its row, also if its unit has deletes of its own.
  std::int64_t least = opening_.params.info.IsMeta() ? greatest_timestamp_ + 1 : greatest_timestamp_;
  if (puts)
    for (const std::string& row : rows) least = std::max(least, NewestDelete(row) + 1);
  greatest_timestamp_ = RATCHET_MUTANT("region.clock_only") ? now : std::max(now, least);
  shown_timestamp_.store(greatest_timestamp_, std::memory_order_relaxed);
  if (deletes)
    for (const std::string& row : rows) NoteDelete(row, greatest_timestamp_);
  return std::max(greatest_timestamp_, floor);
}

std::int64_t WritePath::TimestampAfter(std::int64_t old, std::int64_t& now) {
  // Changes of one cell that come faster than one a millisecond for this long share timestamps again, so that the
  // timestamps of a region stay near the clock.
  constexpr std::int64_t kMostAheadMs = 1'000;
  if (old < now) return now;
  if (old >= kLatestTimestamp - 1) return old;
  const std::int64_t next = old + 1;
  const std::int64_t clock = opening_.params.clock->WallMillis();
  MutexLock lock(staging_);
  if (old > greatest_timestamp_ || RATCHET_MUTANT("region.counters_run_ahead")) return next;  // chosen by a client
  if (next - clock > kMostAheadMs) return old;
  greatest_timestamp_ = std::max(greatest_timestamp_, next);
  shown_timestamp_.store(greatest_timestamp_, std::memory_order_relaxed);
  now = next;
  return next;
}

std::int64_t WritePath::greatest_timestamp() const {
  MutexLock lock(staging_);
  return greatest_timestamp_;
}

void WritePath::FillStatus(RegionStatus& status) const {
  status.writes = writes_.load(std::memory_order_relaxed);
  status.greatest_timestamp = shown_timestamp_.load(std::memory_order_relaxed);
}

void WritePath::Load(const ManifestState& state) {
  MutexLock lock(staging_);
  if (!RATCHET_MUTANT("region.low_first_sequence")) next_sequence_ = state.flushed_sequence + 1;
  greatest_timestamp_ = state.greatest_timestamp;
}

void WritePath::PassOver(const LogEntry& entry) {
  MutexLock lock(staging_);
  if (!RATCHET_MUTANT("region.low_first_sequence")) next_sequence_ = std::max(next_sequence_, entry.sequence + 1);
  greatest_timestamp_ = std::max(greatest_timestamp_, entry.greatest_timestamp);
}

std::uint64_t WritePath::FinishLoad() {
  MutexLock lock(staging_);
  shown_timestamp_.store(greatest_timestamp_, std::memory_order_relaxed);
  deletes_before_ = greatest_timestamp_;  // any row may have been deleted at that time
  return next_sequence_;
}

// Takes the sequence and the place in the log under one lock, so that both orders are the same.
bool WritePath::Stage(std::shared_ptr<LogMember> member, const std::shared_ptr<LogEntry>& entry,
                      std::function<void(Status)> done, std::uint64_t computed_from) {
  MutexLock lock(staging_);
  entry->region = opening_.encoded_name;
  entry->sequence = next_sequence_++;
  entry->greatest_timestamp = greatest_timestamp_;
  if (RATCHET_MUTANT("region.visible_before_sync")) MakeReadable(*entry);
  return opening_.params.log->Append(*entry, std::move(member), std::move(done), computed_from);
}

void WritePath::MakeReadable(const LogEntry& entry) {
  if (data_.Publish(entry) && opening_.params.wants_flush) opening_.params.wants_flush();
}

Status WritePath::Judge(const Status& logged) {
  if (!logged.ok() && logged.error().code() == Code::kNoSpace)  // nothing was written, and the region is still ours
    return MakeError(Code::kNoSpace, logged.error().message(), rpc::exception::kRegionTooBusy);
  // nothing was written either, and the entry would never fit
  if (!logged.ok() && logged.error().code() == Code::kResourceExhausted)
    return DoNotRetry(Code::kResourceExhausted, logged.error().message());
  // the client's retry is computed from what is readable then
  if (!logged.ok() && logged.error().code() == Code::kUnavailable) return TooBusy(logged.error().message());
  if (!logged.ok()) {
    // S50 (give up only on proof): the log ended for its own reasons, which is not evidence of another owner. The
    // region accepts no more writes, and its server ends.
    if (logged.error().code() == Code::kFenced || RATCHET_MUTANT("log.give_up_when_unsure"))
      admission_.Lose(logged.error());
    return WriteInDoubt(opening_.encoded_name, logged.error().message());
  }
  return admission_.CheckKept();
}

// Runs on the log's thread, in the order of the log.
Status WritePath::Publish(const LogEntry& entry, const Status& logged) {
  RATCHET_TRY(Judge(logged));
  if (!RATCHET_MUTANT("region.visible_before_sync")) MakeReadable(entry);
  return Ok();
}

}  // namespace ratchet::regionserver
