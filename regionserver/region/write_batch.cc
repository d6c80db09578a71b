// One batch on its way (write_path.h): the waves, the locks of their rows, the answers.
#include <algorithm>
#include <atomic>
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
void SayWhatIsShipped(const OpeningRules& opening, LogEntry& entry) {
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
// the memstore limits. The next wave is planned while the log has the entry, unless many bytes or waves are in its
// queue.
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
    if (admitted.ok()) ProveRefusals();
    discharge_ = admitted.ok();
    for (std::size_t next = 0; admitted.ok() && next < units_.size();) {
      if (next > 0 && !HasRoom(next)) break;
      next = RunWave(next);
    }
    EndPart();
  }

 private:
  [[nodiscard]] const OpenParams& params() const { return path_.opening_.params; }

  // S24 (visible after sync): refusals because of this opening's schema or bounds pass CHECK, all of them one CHECK.
  void ProveRefusals() {
    const auto refused = [](const auto& result) { return result.has_value(); };
    if (std::none_of(results_.begin(), results_.end(), refused) || RATCHET_MUTANT("region.refuse_without_check"))
      return;
    const Status serving = path_.admission_.CheckServing();
    if (serving.ok()) return;
    for (auto& result : results_)
      if (result.has_value()) result = serving.error();
  }

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

  // A wave while it is planned.
  struct Wave {
    std::shared_ptr<RowLocks::Held> locks;
    std::shared_ptr<StagedWrite> write = std::make_shared<StagedWrite>();
    std::uint64_t bytes = 0;
    std::uint64_t computed_from = 0;   // see ServerLog::Append
    std::vector<std::size_t> waiting;  // the units whose results wait for the log
    bool unlogged = false;             // others were read
  };

  // Returns the end of the run of units that may share an entry, and collects their rows.
  std::size_t EndOfWave(std::size_t begin, std::set<std::string>& rows) const {
    const std::vector<std::string> cluster_ids = ClusterIdsOf(units_[begin]);  // an entry has the ids of all its units
    std::size_t end = begin;
    for (; end < units_.size(); ++end) {
      if (results_[end]) continue;
      std::set<std::string> touched = RATCHET_MUTANT("region.lock_first_row")
                                          ? std::set<std::string>{units_[end].mutations.front().row}
                                          : RowsOf(units_[end]);
      const bool seen =
          std::any_of(touched.begin(), touched.end(), [&rows](const std::string& row) { return rows.contains(row); });
      if (seen && NeedsRead(units_[end])) break;
      if (end > begin && ClusterIdsOf(units_[end]) != cluster_ids) break;
      rows.merge(touched);
    }
    return end;
  }

  // Returns where the next wave begins.
  std::size_t RunWave(std::size_t begin) {
    std::set<std::string> rows;
    std::size_t end = EndOfWave(begin, rows);
    if (rows.empty()) return end;
    Result<std::shared_ptr<RowLocks::Held>> locks = path_.admission_.LockRows(rows);
    if (!locks.ok()) {
      for (std::size_t i = begin; i < end; ++i)
        if (!results_[i]) results_[i] = locks.error();
      return end;
    }
    Wave wave;
    wave.locks = std::move(locks).value();
    wave.write->entry.shipped.cluster_ids = ClusterIdsOf(units_[begin]);
    for (std::size_t i = begin; i < end; ++i) {
      if (results_[i]) continue;
      Plan(i, wave);
      if (wave.bytes >= params().settings->wave_bytes && !RATCHET_MUTANT("region.uncut_wave")) end = i + 1;
    }
    if (wave.unlogged) CheckUnlogged(begin, end, wave.waiting);
    if (!wave.write->entry.cells.empty())
      Log(std::move(wave), end == units_.size());
    else if (!wave.waiting.empty())
      Follow(std::move(wave));
    return end;
  }

  // The unit's result waits for the log if the unit adds to the entry, or was computed from entries in its queue.
  void Plan(std::size_t index, Wave& wave) {
    const AtomicMutation& unit = units_[index];
    if (allowance_ && allowance_->UsedUp() && ReturnsResults(unit)) {
      results_[index] = MakeError(Code::kResourceExhausted, "the reply is full; ask again for this",
                                  rpc::exception::kMultiActionResultTooLarge);
      wave.unlogged = true;
      return;
    }
    MutationPlanner planner(path_.opening_, path_.data_, path_, *wave.locks, unit);
    Result<MutationPlan> plan = planner.Run();
    const std::uint64_t from = RATCHET_MUTANT("region.answer_before_source") ? 0 : planner.computed_from();
    if (from != 0) wave.computed_from = wave.computed_from == 0 ? from : std::min(wave.computed_from, from);
    const bool logs = plan.ok() && !plan->cells.empty();
    if (logs || from != 0)
      wave.waiting.push_back(index);
    else
      wave.unlogged = true;
    if (!plan.ok()) {
      results_[index] = std::move(plan).error();
      return;
    }
    if (allowance_)
      for (const auto& cells : plan->result.results)
        for (const Cell& cell : cells) allowance_->Use(LoggedSize(cell));
    results_[index] = std::move(plan->result);
    if (logs) AddToEntry(unit, *plan, wave);
  }

  static void AddToEntry(const AtomicMutation& unit, MutationPlan& plan, Wave& wave) {
    LogEntry& entry = wave.write->entry;
    StagedPart part{wave.write, entry.cells.size(), 0, entry.nonces.size(), 0};
    wave.bytes += plan.bytes;
    entry.cells.insert(entry.cells.end(), std::make_move_iterator(plan.cells.begin()),
                       std::make_move_iterator(plan.cells.end()));
    entry.nonces.insert(entry.nonces.end(), plan.nonces.begin(), plan.nonces.end());
    part.end_cell = entry.cells.size();
    part.end_nonce = entry.nonces.size();
    const std::string* last = nullptr;
    for (const Mutation& mutation : unit.mutations) {
      if (last != nullptr && *last == mutation.row) continue;
      last = &mutation.row;
      if (StagedRow* staged = wave.locks->Staged(mutation.row); staged != nullptr) staged->Add(part);
    }
  }

  // CHECKs results that only depend on reads (S24: visible after sync): a false condition, a used nonce.
  void CheckUnlogged(std::size_t begin, std::size_t end, const std::vector<std::size_t>& waiting) {
    const Status serving = path_.admission_.CheckServing();
    if (serving.ok()) return;
    for (std::size_t i = begin; i < end; ++i)
      if (std::find(waiting.begin(), waiting.end(), i) == waiting.end()) results_[i] = serving.error();
  }

  void Log(Wave wave, bool last) {
    ++parts_;
    unwaited_bytes_ += wave.bytes;
    const bool waits = !last && (unwaited_bytes_ >= params().settings->wave_bytes || ++unwaited_ == kMostUnwaited);
    auto latch = waits ? std::make_shared<Latch>() : nullptr;
    SayWhatIsShipped(path_.opening_, wave.write->entry);
    const std::shared_ptr<LogEntry> entry(wave.write, &wave.write->entry);
    std::function<void(Status)> completed = [self = shared_from_this(), write = wave.write, locks = wave.locks,
                                             waiting = std::move(wave.waiting), latch](const Status& status) {
      const Status published = self->path_.Publish(write->entry, status);
      write->settled.store(true, std::memory_order_release);
      // The thread that planned the write may not have run since. The client's next write must not wait for it.
      locks->Unlock();
      locks->Settle();
      self->EndWaiting(waiting, published);
      if (latch) latch->Open();
      self->EndPart();
    };
    if (!path_.Stage(member_, entry, completed, wave.computed_from))
      completed(Error(Code::kAborted, "the server's log has ended"));
    wave.locks->Unlock();
    if (!latch) return;
    latch->Wait();
    unwaited_bytes_ = 0;
    unwaited_ = 0;
  }

  // The results of a wave that logs nothing leave after the entries from which they were computed.
  void Follow(Wave wave) {
    ++parts_;
    const std::function<void(Status)> completed = [self = shared_from_this(),
                                                   waiting = std::move(wave.waiting)](const Status& status) {
      Status judged = self->path_.Judge(status);
      if (judged.ok()) judged = self->path_.admission_.CheckReadable();
      self->EndWaiting(waiting, judged);
      self->EndPart();
    };
    if (!params().log->Follow(member_, completed, wave.computed_from))
      completed(Error(Code::kAborted, "the server's log has ended"));
  }

  void EndWaiting(const std::vector<std::size_t>& waiting, const Status& status) {
    if (status.ok()) return;
    for (const std::size_t index : waiting) results_[index] = status.error();
  }

  // The last part that ends, Run or a wave, ends the batch.
  void EndPart() {
    if (--parts_ == 0) Finish();
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
  std::atomic<std::size_t> parts_{1};  // Run, and the waves in the log's queue
  // Waves, and their bytes, in the log's queue for which Run has not waited.
  static constexpr std::size_t kMostUnwaited = 64;
  std::size_t unwaited_ = 0;
  std::uint64_t unwaited_bytes_ = 0;
};

void WritePath::MutateBatch(std::shared_ptr<LogMember> member, std::vector<AtomicMutation> mutations, BatchDone done,
                            std::shared_ptr<ResultAllowance> results) {
  std::make_shared<Batch>(*this, std::move(member), std::move(mutations), std::move(done), std::move(results))->Run();
}

}  // namespace ratchet::regionserver
