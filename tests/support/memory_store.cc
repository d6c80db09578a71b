#include "tests/support/memory_store.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ratchet::procedure {

std::size_t MemoryMedium::record_count() const {
  MutexLock lock(mutex_);
  return records_.size();
}

std::map<std::string, std::string> MemoryMedium::system_records() const {
  MutexLock lock(mutex_);
  return system_;
}

Epoch MemoryMedium::epoch() const {
  MutexLock lock(mutex_);
  return epoch_;
}

MemoryStore::MemoryStore(std::shared_ptr<MemoryMedium> medium) : medium_(std::move(medium)) {}

Result<LoadedState> MemoryStore::Claim() {
  LoadedState loaded;
  {
    MutexLock lock(medium_->mutex_);
    medium_->epoch_ = medium_->epoch_.Next();
    loaded.epoch = medium_->epoch_;
    for (const auto& [pid, record] : medium_->records_) loaded.records.push_back(record);
    loaded.system_records = medium_->system_;
    loaded.max_pid = medium_->max_pid_;
    loaded.last_sequence = medium_->last_sequence_;
  }
  {
    MutexLock lock(mutex_);
    epoch_ = loaded.epoch;
    next_sequence_ = loaded.last_sequence + 1;
  }
  if (!Survives(StorePhase::kLoading, 0)) return Error(Code::kAborted, "the process crashed while loading");
  return loaded;
}

void MemoryStore::Commit(StoreBatch batch, CommitDone done) {
  {
    MutexLock lock(mutex_);
    if (crashed_) return;
    waiting_.push_back({std::move(batch), std::move(done), next_sequence_++});
    // A continuation that commits again finds performing_ set; its commit is completed by the loop below it, in order.
    if (manual_ || performing_) return;
    performing_ = true;
  }
  Waiting commit;
  while (PopOldest(/*performing=*/true, &commit)) Perform(std::move(commit));
}

// The thread that completes for all stops in the same critical section in which it finds nothing: a commit handed in
// later finds no thread at work.
bool MemoryStore::PopOldest(bool performing, Waiting* oldest) {
  MutexLock lock(mutex_);
  if (crashed_ || waiting_.empty()) {
    if (performing) performing_ = false;
    return false;
  }
  *oldest = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

bool MemoryStore::Pump() {
  Waiting commit;
  if (!PopOldest(/*performing=*/false, &commit)) return false;
  Perform(std::move(commit));
  return true;
}

void MemoryStore::Perform(Waiting commit) {
  std::uint64_t number = 0;
  bool stopped = false;
  {
    MutexLock lock(mutex_);
    number = ++commits_;
    stopped = stopped_;
  }
  if (stopped) {
    if (commit.done) commit.done(Error(Code::kAborted, "the procedure store was stopped"));
    return;
  }
  if (!Survives(StorePhase::kBeforeWrite, number) || !Survives(StorePhase::kWritten, number)) return;
  const Status applied = Apply(commit);
  if (!Survives(StorePhase::kSynced, number)) return;
  if (commit.done) {
    if (applied.ok()) {
      commit.done(commit.sequence);
    } else {
      commit.done(applied.error());
    }
  }
  IgnoreResult(Survives(StorePhase::kPublished, number) ? Ok() : Ok(), "a crash here is seen by the next call");
}

Status MemoryStore::Apply(const Waiting& commit) {
  Epoch epoch;
  {
    MutexLock lock(mutex_);
    epoch = epoch_;
    ++metrics_.batches;
    ++metrics_.syncs;
  }
  const StoreBatch& batch = commit.batch;
  MutexLock lock(medium_->mutex_);
  if (medium_->epoch_ != epoch) return Error(Code::kFenced, "deposed as owner of the procedure store");
  std::set<ProcId> named;
  for (const ProcedureUpsert& upsert : batch.upserts) {
    const auto known = medium_->records_.find(upsert.pid);
    const std::uint64_t expected = known == medium_->records_.end() ? 1 : known->second.version + 1;
    if (upsert.version != expected || !upsert.pid.valid() || !named.insert(upsert.pid).second) {
      return Error(Code::kStale, fmt::format("pid {}: version {} does not follow, expected {}", upsert.pid,
                                             upsert.version, expected));
    }
  }
  for (const ProcId pid : batch.deletes) {
    if (!medium_->records_.contains(pid) || !named.insert(pid).second) {
      return Error(Code::kStale, fmt::format("pid {}: deleted, but not stored, or twice in one batch", pid));
    }
  }
  for (const ProcedureUpsert& upsert : batch.upserts) {
    medium_->records_[upsert.pid] = upsert;
    medium_->max_pid_ = std::max(medium_->max_pid_, upsert.pid);
  }
  for (const ProcId pid : batch.deletes) medium_->records_.erase(pid);
  for (const SystemPut& put : batch.system_puts) medium_->system_[put.key] = put.value;
  for (const std::string& key : batch.system_deletes) medium_->system_.erase(key);
  medium_->last_sequence_ = std::max(medium_->last_sequence_, commit.sequence);
  return Ok();
}

bool MemoryStore::Survives(StorePhase phase, std::uint64_t commit) {
  PhaseHook hook;
  {
    MutexLock lock(mutex_);
    if (crashed_) return false;
    hook = hook_;
  }
  if (!hook || hook(phase, commit)) return true;
  Crash();
  return false;
}

Status MemoryStore::Check() {
  Epoch epoch;
  {
    MutexLock lock(mutex_);
    if (crashed_ || !epoch_.valid()) return Error(Code::kFenced, "not the owner of the procedure store");
    epoch = epoch_;
  }
  MutexLock lock(medium_->mutex_);
  if (medium_->epoch_ == epoch) return Ok();
  return Error(Code::kFenced, fmt::format("epoch {} was claimed after this one's {}", medium_->epoch_, epoch));
}

std::uint64_t MemoryStore::NextSequence() {
  MutexLock lock(mutex_);
  return next_sequence_++;
}

Status MemoryStore::Admit() {
  MutexLock lock(mutex_);
  return full_ ? Status(Error(Code::kNoSpace, "the disk of the procedure store is nearly full")) : Ok();
}

void MemoryStore::Stop() {
  while (Pump()) {
  }
  MutexLock lock(mutex_);
  stopped_ = true;
}

StoreMetrics MemoryStore::metrics() const {
  StoreMetrics metrics;
  {
    MutexLock lock(mutex_);
    metrics = metrics_;
    metrics.in_flight = waiting_.size();
  }
  metrics.live_records = medium_->record_count();
  return metrics;
}

void MemoryStore::SetManual(bool manual) {
  MutexLock lock(mutex_);
  manual_ = manual;
}

std::size_t MemoryStore::waiting() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

void MemoryStore::SetPhaseHook(PhaseHook hook) {
  MutexLock lock(mutex_);
  hook_ = std::move(hook);
}

void MemoryStore::CrashAtCommit(std::uint64_t n, bool durable) {
  MutexLock lock(mutex_);
  const std::uint64_t target = commits_ + n;
  const StorePhase where = durable ? StorePhase::kSynced : StorePhase::kBeforeWrite;
  hook_ = [target, where](StorePhase phase, std::uint64_t commit) { return phase != where || commit != target; };
}

void MemoryStore::Crash() {
  MutexLock lock(mutex_);
  crashed_ = true;
  waiting_.clear();
}

bool MemoryStore::crashed() const {
  MutexLock lock(mutex_);
  return crashed_;
}

void MemoryStore::SetFull(bool full) {
  MutexLock lock(mutex_);
  full_ = full;
}

}  // namespace ratchet::procedure
