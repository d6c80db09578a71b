// The write path: lock, plan, log, and publish once the log says that the entry is durable and CHECKed (S1: check after
// sync; S24: visible after sync).
#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/mutant.h"
#include "regionserver/region/mutation_planner.h"
#include "regionserver/region/region_core.h"
#include "regionserver/region/region_counts.h"
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

bool ReturnsResults(const AtomicMutation& unit) {
  return std::any_of(unit.mutations.begin(), unit.mutations.end(), [](const Mutation& mutation) {
    return (mutation.kind == MutationKind::kAppend || mutation.kind == MutationKind::kIncrement) &&
           mutation.return_result;
  });
}

std::vector<std::string> ClusterIdsOf(const AtomicMutation& unit) {
  std::vector<std::string> all;
  for (const Mutation& mutation : unit.mutations) {
    for (const std::string& id : mutation.cluster_ids)
      if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  }
  return all;
}

// Adds the replication part to the entry, if any of its families is shipped.
void SayWhatIsShipped(const RegionCore& core, LogEntry& entry) {
  if (core.shipped_families.empty()) return;
  std::set<std::string_view> written;
  for (const LoggedCell& logged : entry.cells) {
    if (core.shipped_families.contains(logged.cell.family)) written.insert(logged.cell.family);
  }
  if (written.empty()) return;
  entry.shipped.table = core.params.info.table.ToString();
  entry.shipped.families.assign(written.begin(), written.end());
  entry.shipped.written_ms = core.params.clock->WallMillis();
}

// Lets the caller's thread wait for the log between two waves of one batch.
class Latch {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    opened_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!open_) opened_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  bool open_ GUARDED_BY(mutex_) = false;
};

}  // namespace

// The independent units of one request in progress. A wave is a run of units that may share one log entry: none of them
// has to read a row that an earlier one of the wave changes. A wave ends when its entry reaches
// RegionSettings::wave_bytes. So a client cannot choose the size of an entry, nor write much without another check of
// the memstore limits.
class WriteBatch : public std::enable_shared_from_this<WriteBatch> {
 public:
  WriteBatch(std::shared_ptr<RegionCore> core, std::vector<AtomicMutation> units, BatchDone done,
             std::shared_ptr<ResultAllowance> allowance)
      : core_(std::move(core)),
        units_(std::move(units)),
        results_(units_.size()),
        done_(std::move(done)),
        allowance_(std::move(allowance)) {}

  void Run() {
    core_->params.log->WaitForRoom();
    const Status admitted =
        IsReadOnly() ? Status(DoNotRetry(Code::kFailedPrecondition, "region is read only: READONLY of its table"))
                     : core_->Admit();
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const Status fine = admitted.ok() ? CheckMutation(*core_, units_[i]) : admitted;
      if (!fine.ok()) results_[i] = fine.error();
    }
    if (!admitted.ok()) return Finish();
    discharge_ = true;
    for (std::size_t next = 0; next < units_.size();) {
      if (next > 0 && !HasRoom(next)) break;
      next = RunWave(next);
    }
    if (!last_wave_logs_) Finish();
  }

 private:
  [[nodiscard]] bool IsReadOnly() const {
    const auto found = core_->params.table->attributes.find("READONLY");
    return found != core_->params.table->attributes.end() && (found->second == "true" || found->second == "TRUE");
  }

  // Each wave is admitted separately, so that a large batch cannot bypass the limits. Returns false when the rest is
  // refused.
  bool HasRoom(std::size_t begin) {
    core_->params.log->WaitForRoom();
    const Status room = core_->CheckRoom();
    if (room.ok()) return true;
    for (std::size_t i = begin; i < units_.size(); ++i)
      if (!results_[i]) results_[i] = room.error();
    return false;
  }

  // Returns where the next wave begins. The last wave that logs anything ends the batch from the log's thread.
  std::size_t RunWave(std::size_t begin) {
    std::set<std::string> rows;
    std::vector<std::string> cluster_ids = ClusterIdsOf(units_[begin]);  // an entry has the ids of all its units
    std::size_t end = begin;
    for (; end < units_.size(); ++end) {
      if (results_[end]) continue;
      std::set<std::string> touched = RowsOf(units_[end]);
      if (RATCHET_MUTANT("region.lock_first_row")) touched = {units_[end].mutations.front().row};
      const bool seen =
          std::any_of(touched.begin(), touched.end(), [&rows](const std::string& row) { return rows.contains(row); });
      if (seen && NeedsRead(units_[end])) break;
      if (end > begin && ClusterIdsOf(units_[end]) != cluster_ids) break;
      rows.merge(touched);
    }
    if (rows.empty()) return end;
    Result<std::shared_ptr<RowLocks::Held>> locks =
        core_->row_locks->Acquire(std::move(rows), core_->params.settings->row_lock_wait);
    LogEntry entry;
    entry.shipped.cluster_ids = std::move(cluster_ids);
    std::uint64_t entry_bytes = 0;
    std::vector<std::size_t> logged;
    bool unlogged = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (results_[i]) continue;
      if (!locks.ok())
        results_[i] = locks.error();
      else if (Plan(i, entry, &entry_bytes))
        logged.push_back(i);
      else
        unlogged = true;
      if (entry_bytes >= core_->params.settings->wave_bytes && !RATCHET_MUTANT("region.uncut_wave")) end = i + 1;
    }
    if (unlogged) CheckUnlogged(begin, end, logged);
    if (!logged.empty()) Log(std::move(entry), std::move(logged), std::move(locks).value(), end == units_.size());
    return end;
  }

  // Returns true when the unit adds to the log entry; its result then waits for the log.
  bool Plan(std::size_t index, LogEntry& entry, std::uint64_t* entry_bytes) {
    const AtomicMutation& unit = units_[index];
    if (allowance_ && allowance_->UsedUp() && ReturnsResults(unit)) {
      results_[index] = MakeError(Code::kResourceExhausted, "the reply is full; ask again for this",
                                  rpc::exception::kMultiActionResultTooLarge);
      return false;
    }
    const bool deletes = HasDelete(unit);
    const bool puts = !HasOnlyDeletes(unit);
    MutationPlanner planner(
        *core_, unit, [&](std::int64_t floor) { return core_->AssignTimestamp(RowsOf(unit), puts, deletes, floor); });
    Result<MutationPlan> plan = planner.Run();
    if (!plan.ok()) {
      results_[index] = std::move(plan).error();
      return false;
    }
    if (allowance_)
      for (const auto& cells : plan->result.results)
        for (const Cell& cell : cells) allowance_->Use(LoggedSize(cell));
    results_[index] = std::move(plan->result);
    if (plan->cells.empty()) return false;
    *entry_bytes += plan->bytes;
    entry.cells.insert(entry.cells.end(), std::make_move_iterator(plan->cells.begin()),
                       std::make_move_iterator(plan->cells.end()));
    entry.nonces.insert(entry.nonces.end(), plan->nonces.begin(), plan->nonces.end());
    return true;
  }

  // CHECKs results that only depend on reads (S24): a false condition, a used nonce.
  void CheckUnlogged(std::size_t begin, std::size_t end, const std::vector<std::size_t>& logged) {
    const Status serving = core_->CheckServing();
    if (serving.ok()) return;
    for (std::size_t i = begin; i < end; ++i)
      if (std::find(logged.begin(), logged.end(), i) == logged.end()) results_[i] = serving.error();
  }

  void Log(LogEntry entry, std::vector<std::size_t> logged, std::shared_ptr<RowLocks::Held> locks, bool last) {
    last_wave_logs_ = last;
    SayWhatIsShipped(*core_, entry);
    auto shared = std::make_shared<LogEntry>(std::move(entry));
    auto latch = last ? nullptr : std::make_shared<Latch>();
    std::function<void(Status)> completed = [self = shared_from_this(), shared, logged = std::move(logged),
                                             locks = std::move(locks), latch](const Status& status) mutable {
      const Status published = self->core_->Publish(*shared, status);
      for (const std::size_t index : logged)
        if (!published.ok()) self->results_[index] = published.error();
      locks.reset();
      if (latch)
        latch->Open();
      else
        self->Finish();
    };
    if (!core_->Stage(shared, completed)) completed(Error(Code::kAborted, "the server's log has ended"));
    if (latch) latch->Wait();
  }

  void Finish() {
    std::vector<Result<MutationResult>> results;
    results.reserve(results_.size());
    for (auto& result : results_) {
      RATCHET_CHECK(result.has_value(), "a unit of the batch has no result");
      results.push_back(std::move(*result));
    }
    core_->writes.fetch_add(results.size(), std::memory_order_relaxed);
    RegionCounts& counts = RegionCounts::OfProcess();
    counts.mutate.Note(core_->params.clock->Now() - began_);
    counts.mutations.fetch_add(results.size(), std::memory_order_relaxed);
    const auto failed = std::count_if(results.begin(), results.end(), [](const auto& result) { return !result.ok(); });
    counts.failed_mutations.fetch_add(static_cast<std::uint64_t>(failed), std::memory_order_relaxed);
    done_(std::move(results));
    if (discharge_) core_->Discharge();
  }

  const std::shared_ptr<RegionCore> core_;
  const std::vector<AtomicMutation> units_;
  std::vector<std::optional<Result<MutationResult>>> results_;
  const BatchDone done_;
  const std::shared_ptr<ResultAllowance> allowance_;
  const TimePoint began_ = core_->params.clock->Now();
  bool discharge_ = false;
  bool last_wave_logs_ = false;
};

void RegionCore::MutateBatch(std::vector<AtomicMutation> mutations, BatchDone done,
                             std::shared_ptr<ResultAllowance> results) {
  std::make_shared<WriteBatch>(shared_from_this(), std::move(mutations), std::move(done), std::move(results))->Run();
}

// Takes the sequence and the place in the log under one lock, so that both orders are the same. Returns false when the
// log has ended.
bool RegionCore::Stage(const std::shared_ptr<LogEntry>& entry, std::function<void(Status)> done) {
  MutexLock lock(staging_);
  entry->region = encoded_name;
  entry->sequence = next_sequence_++;
  entry->greatest_timestamp = greatest_timestamp_;
  if (RATCHET_MUTANT("region.visible_before_sync")) AddToMemstore(*entry);
  return params.log->Append(*entry, shared_from_this(), std::move(done));
}

void RegionCore::AddToMemstore(const LogEntry& entry) {
  bool ask_for_flush = false;
  {
    MutexLock publish_lock(publishing_);
    std::shared_ptr<Memstore> active;
    {
      MutexLock lock(state_mutex_);
      active = view_->active;
    }
    for (const LoggedCell& logged : entry.cells) active->Add(logged.cell, entry.sequence, logged.ttl_ms);
    nonces.Add(entry.nonces);
    MutexLock lock(state_mutex_);
    read_point_ = std::max(read_point_, entry.sequence);
    ask_for_flush = !flush_asked_ && active->bytes() > params.settings->flush_bytes;
    flush_asked_ = flush_asked_ || ask_for_flush;
  }
  if (ask_for_flush && params.wants_flush) params.wants_flush();
}

// Runs on the log's thread, in the order of the log.
Status RegionCore::Publish(const LogEntry& entry, const Status& logged) {
  if (!logged.ok() && logged.error().code() == Code::kNoSpace)  // nothing was written, and the region is still ours
    return MakeError(Code::kNoSpace, logged.error().message(), rpc::exception::kRegionTooBusy);
  // nothing was written either, and the entry would never fit
  if (!logged.ok() && logged.error().code() == Code::kResourceExhausted)
    return DoNotRetry(Code::kResourceExhausted, logged.error().message());
  if (!logged.ok()) {
    // S50 (give up only on proof): the log ended for its own reasons, which is not evidence of another owner. The
    // region accepts no more writes, and its server ends.
    if (logged.error().code() == Code::kFenced || RATCHET_MUTANT("log.give_up_when_unsure")) Lose(logged.error());
    return WriteInDoubt(encoded_name, logged.error().message());
  }
  {
    MutexLock lock(state_mutex_);
    if (lost_) return NotServingLocked();
  }
  if (!RATCHET_MUTANT("region.visible_before_sync")) AddToMemstore(entry);
  return Ok();
}

}  // namespace ratchet::regionserver
