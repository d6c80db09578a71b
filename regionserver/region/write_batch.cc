// One batch on its way (write_path.h): the waves, the locks of their rows, the answers.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/mutant.h"
#include "regionserver/region/mutation_planner.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/region/region_errors.h"
#include "regionserver/region/write_path.h"

namespace ratchet::regionserver {
namespace {

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
void SayWhatIsShipped(const Opening& opening, LogEntry& entry) {
  if (opening.shipped_families().empty()) return;
  std::set<std::string_view> written;
  for (const LoggedCell& logged : entry.cells) {
    if (opening.shipped_families().contains(logged.cell.family)) written.insert(logged.cell.family);
  }
  if (written.empty()) return;
  entry.shipped.table = opening.params.info.table.ToString();
  entry.shipped.families.assign(written.begin(), written.end());
  entry.shipped.written_ms = opening.params.clock->WallMillis();
}

bool IsReadOnly(const TableDescriptor& table) {
  const auto found = table.attributes.find("READONLY");
  return found != table.attributes.end() && (found->second == "true" || found->second == "TRUE");
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
class WritePath::Batch : public std::enable_shared_from_this<WritePath::Batch> {
 public:
  Batch(WritePath& path, std::shared_ptr<LogMember> member, std::vector<AtomicMutation> units, BatchDone done,
        std::shared_ptr<ResultAllowance> allowance)
      : path_(path),
        member_(std::move(member)),
        units_(std::move(units)),
        results_(units_.size()),
        done_(std::move(done)),
        allowance_(std::move(allowance)) {}

  void Run() {
    params().log->WaitForRoom();
    const Status admitted =
        IsReadOnly(*params().table)
            ? Status(DoNotRetry(Code::kFailedPrecondition, "region is read only: READONLY of its table"))
            : path_.Admit();
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const Status fine = admitted.ok() ? CheckMutation(path_.opening_, units_[i]) : admitted;
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
  [[nodiscard]] const OpenParams& params() const { return path_.opening_.params; }

  // Each wave is admitted separately, so that a large batch cannot bypass the limits. Returns false when the rest is
  // refused.
  bool HasRoom(std::size_t begin) {
    params().log->WaitForRoom();
    const Status room = path_.CheckRoom();
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
    Result<std::shared_ptr<RowLocks::Held>> locks = path_.admission_.LockRows(std::move(rows));
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
      if (entry_bytes >= params().settings->wave_bytes && !RATCHET_MUTANT("region.uncut_wave")) end = i + 1;
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
    Result<MutationPlan> plan = MutationPlanner(path_.opening_, path_.data_, path_, unit).Run();
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

  // CHECKs results that only depend on reads (S24: visible after sync): a false condition, a used nonce.
  void CheckUnlogged(std::size_t begin, std::size_t end, const std::vector<std::size_t>& logged) {
    const Status serving = path_.admission_.CheckServing();
    if (serving.ok()) return;
    for (std::size_t i = begin; i < end; ++i)
      if (std::find(logged.begin(), logged.end(), i) == logged.end()) results_[i] = serving.error();
  }

  void Log(LogEntry entry, std::vector<std::size_t> logged, std::shared_ptr<RowLocks::Held> locks, bool last) {
    last_wave_logs_ = last;
    SayWhatIsShipped(path_.opening_, entry);
    auto shared = std::make_shared<LogEntry>(std::move(entry));
    auto latch = last ? nullptr : std::make_shared<Latch>();
    std::function<void(Status)> completed = [self = shared_from_this(), shared, logged = std::move(logged),
                                             locks = std::move(locks), latch](const Status& status) mutable {
      const Status published = self->path_.Publish(*shared, status);
      for (const std::size_t index : logged)
        if (!published.ok()) self->results_[index] = published.error();
      locks.reset();
      if (latch)
        latch->Open();
      else
        self->Finish();
    };
    if (!path_.Stage(member_, shared, completed)) completed(Error(Code::kAborted, "the server's log has ended"));
    if (latch) latch->Wait();
  }

  void Finish() {
    std::vector<Result<MutationResult>> results;
    results.reserve(results_.size());
    for (auto& result : results_) {
      RATCHET_CHECK(result.has_value(), "a unit of the batch has no result");
      results.push_back(std::move(*result));
    }
    path_.writes_.fetch_add(results.size(), std::memory_order_relaxed);
    RegionCounts& counts = RegionCounts::OfProcess();
    counts.mutate.Note(params().clock->Now() - began_);
    counts.mutations.fetch_add(results.size(), std::memory_order_relaxed);
    const auto failed = std::count_if(results.begin(), results.end(), [](const auto& result) { return !result.ok(); });
    counts.failed_mutations.fetch_add(static_cast<std::uint64_t>(failed), std::memory_order_relaxed);
    done_(std::move(results));
    if (discharge_) path_.admission_.Discharge();
  }

  WritePath& path_;
  const std::shared_ptr<LogMember> member_;  // keeps the region, so path_, alive
  const std::vector<AtomicMutation> units_;
  std::vector<std::optional<Result<MutationResult>>> results_;
  const BatchDone done_;
  const std::shared_ptr<ResultAllowance> allowance_;
  const TimePoint began_ = params().clock->Now();
  bool discharge_ = false;
  bool last_wave_logs_ = false;
};

void WritePath::MutateBatch(std::shared_ptr<LogMember> member, std::vector<AtomicMutation> mutations, BatchDone done,
                            std::shared_ptr<ResultAllowance> results) {
  std::make_shared<Batch>(*this, std::move(member), std::move(mutations), std::move(done), std::move(results))->Run();
}

}  // namespace ratchet::regionserver
