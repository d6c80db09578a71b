// A procedure store in memory whose "disk" outlives the master, and which dies at a chosen commit.
//
// StoredState is the disk: it survives every CrashStore made on it. A CrashStore completes commits inside the Commit
// call (so a single-threaded test is deterministic) until its plan says that the master dies: from then on nothing is
// stored and every completion is an error, which halts the executor exactly where a dead process would have stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "procedure/api/store.h"

namespace ratchet::testing {

// Thread-safe.
struct StoredState {
  Mutex mutex;
  std::map<ProcId, procedure::ProcedureUpsert> records GUARDED_BY(mutex);
  std::map<std::string, std::string> system_records GUARDED_BY(mutex);
  ProcId max_pid GUARDED_BY(mutex);
  std::uint64_t epoch GUARDED_BY(mutex) = 0;
  std::uint64_t sequence GUARDED_BY(mutex) = 0;
  std::uint64_t commits GUARDED_BY(mutex) = 0;  // over all lives
  std::uint64_t written GUARDED_BY(mutex) = 0;  // records of procedures and of the system, over all lives

  std::uint64_t CommitCount() {
    MutexLock lock(mutex);
    return commits;
  }
  std::uint64_t WrittenCount() {
    MutexLock lock(mutex);
    return written;
  }
  // Every live record, for comparing what two histories have left behind.
  std::vector<procedure::ProcedureUpsert> Records() {
    MutexLock lock(mutex);
    std::vector<procedure::ProcedureUpsert> all;
    for (const auto& [pid, record] : records) all.push_back(record);
    return all;
  }
};

// When this life of the master ends. Counts this life's commits from 1; 0: never.
struct CrashPlan {
  std::uint64_t before = 0;  // the commit is lost
  std::uint64_t after = 0;   // the commit is durable, but no caller is notified
};

class CrashStore final : public procedure::ProcedureStore {
 public:
  CrashStore(StoredState& disk, CrashPlan plan) : disk_(disk), plan_(plan) {}

  Result<procedure::LoadedState> Claim() override {
    MutexLock lock(disk_.mutex);
    epoch_ = ++disk_.epoch;
    procedure::LoadedState loaded;
    loaded.epoch = Epoch(epoch_);
    for (const auto& [pid, record] : disk_.records) loaded.records.push_back(record);
    loaded.system_records = disk_.system_records;
    loaded.max_pid = disk_.max_pid;
    loaded.last_sequence = disk_.sequence;
    return loaded;
  }

  void Commit(procedure::StoreBatch batch, procedure::CommitDone done) override {
    Result<std::uint64_t> outcome = CommitNow(std::move(batch));
    if (hold_back_) {
      MutexLock lock(held_mutex_);
      held_.push_back([done = std::move(done), outcome]() mutable { done(outcome); });
      return;
    }
    done(outcome);
  }

  Status Check() override {
    MutexLock lock(disk_.mutex);
    if (dead_ || disk_.epoch != epoch_) return Error(Code::kFenced, "this master is dead");
    return Ok();
  }
  std::uint64_t NextSequence() override {
    MutexLock lock(disk_.mutex);
    return ++disk_.sequence;
  }
  Status Admit() override { return Ok(); }
  void Stop() override {}
  [[nodiscard]] procedure::StoreMetrics metrics() const override { return {}; }

  // This life's end has come.
  [[nodiscard]] bool dead() const {
    MutexLock lock(disk_.mutex);
    return dead_;
  }
  [[nodiscard]] std::uint64_t commits() const {
    MutexLock lock(disk_.mutex);
    return commits_;
  }
  // Ends this life now: nothing more is stored.
  void Die() {
    MutexLock lock(disk_.mutex);
    dead_ = true;
  }
  // Completions wait for ReleaseHeld: for tests of what may happen while a commit is in flight.
  void HoldBack(bool hold) { hold_back_ = hold; }
  std::size_t ReleaseHeld() {
    std::vector<UniqueFunction<void()>> ready;
    {
      MutexLock lock(held_mutex_);
      ready.swap(held_);
    }
    for (auto& call : ready) call();
    return ready.size();
  }

 private:
  Result<std::uint64_t> CommitNow(procedure::StoreBatch batch) {
    MutexLock lock(disk_.mutex);
    if (dead_ || disk_.epoch != epoch_) return Error(Code::kFenced, "this master is dead");
    ++commits_;
    if (plan_.before == commits_) {
      dead_ = true;
      return Error(Code::kFenced, "the master dies before this commit");
    }
    disk_.written += batch.upserts.size() + batch.deletes.size() + batch.system_puts.size();
    for (procedure::ProcedureUpsert& record : batch.upserts) {
      const auto found = disk_.records.find(record.pid);
      const std::uint64_t expected = found == disk_.records.end() ? 1 : found->second.version + 1;
      if (record.version != expected) {
        return Error(Code::kStale, "pid " + std::to_string(record.pid.value()) + ": version " +
                                       std::to_string(record.version) + " where " + std::to_string(expected) +
                                       " follows");
      }
      if (disk_.max_pid < record.pid) disk_.max_pid = record.pid;
      disk_.records.insert_or_assign(record.pid, std::move(record));
    }
    for (const ProcId pid : batch.deletes) disk_.records.erase(pid);
    for (procedure::SystemPut& put : batch.system_puts) disk_.system_records[put.key] = std::move(put.value);
    for (const std::string& key : batch.system_deletes) disk_.system_records.erase(key);
    ++disk_.commits;
    ++disk_.sequence;
    if (plan_.after == commits_) {
      dead_ = true;
      return Error(Code::kFenced, "the master dies after this commit");
    }
    return disk_.sequence;
  }

  StoredState& disk_;
  const CrashPlan plan_;
  std::uint64_t epoch_ = 0;
  std::uint64_t commits_ GUARDED_BY(disk_.mutex) = 0;
  bool dead_ GUARDED_BY(disk_.mutex) = false;
  bool hold_back_ = false;
  Mutex held_mutex_;
  std::vector<UniqueFunction<void()>> held_ GUARDED_BY(held_mutex_);
};

}  // namespace ratchet::testing
