// A procedure store in memory, for tests and simulation, with the same rules as the real one: epochs, versions, atomic
// batches, durable largest pid. The durable part is a MemoryMedium that outlives the store: "restart" means a new
// MemoryStore on the same medium, which fences the old one.
//
// By default a commit is durable and completed before Commit returns. In manual mode it waits for Pump, so that a
// simulation can run other events in between. A phase hook can end the process at any point: data that was not durable
// is gone, and no later continuation of that store runs. Threads: thread-safe; continuations run on the thread that
// commits or pumps, outside any lock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/base/mutex.h"
#include "procedure/api/store.h"

namespace ratchet::procedure {

// The data that survives a crash. Thread-safe.
class MemoryMedium {
 public:
  [[nodiscard]] std::size_t record_count() const;
  [[nodiscard]] std::map<std::string, std::string> system_records() const;
  [[nodiscard]] Epoch epoch() const;

 private:
  friend class MemoryStore;
  mutable Mutex mutex_;
  Epoch epoch_ GUARDED_BY(mutex_);
  std::map<ProcId, ProcedureUpsert> records_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> system_ GUARDED_BY(mutex_);
  ProcId max_pid_ GUARDED_BY(mutex_);
  std::uint64_t last_sequence_ GUARDED_BY(mutex_) = 0;
};

enum class StorePhase : std::uint8_t {
  kLoading,      // inside Claim
  kBeforeWrite,  // a crash here: the batch is lost
  kWritten,      // a crash here: the batch is lost, as if unsynced
  kSynced,       // a crash here: the batch is durable, no waiter was notified
  kPublished,    // after the continuation ran
};

class MemoryStore final : public ProcedureStore {
 public:
  // Return false to crash there. `commit` counts this store's commits from 1 (0 while loading).
  using PhaseHook = std::function<bool(StorePhase phase, std::uint64_t commit)>;

  explicit MemoryStore(std::shared_ptr<MemoryMedium> medium = std::make_shared<MemoryMedium>());

  Result<LoadedState> Claim() override;
  void Commit(StoreBatch batch, CommitDone done) override;
  Status Check() override;
  std::uint64_t NextSequence() override;
  Status Admit() override;
  void Stop() override;
  [[nodiscard]] StoreMetrics metrics() const override;

  void SetManual(bool manual);
  // Completes the oldest waiting commit; false when none waits or the store is dead.
  bool Pump();
  [[nodiscard]] std::size_t waiting() const;

  void SetPhaseHook(PhaseHook hook);
  // The n-th commit from now (1 is the next) ends the process: before it is durable, or after that, without notifying a
  // waiter.
  void CrashAtCommit(std::uint64_t n, bool durable);
  // From now on no pending commit is completed or becomes durable.
  void Crash();
  [[nodiscard]] bool crashed() const;
  // If true, Admit answers kNoSpace.
  void SetFull(bool full);
  [[nodiscard]] const std::shared_ptr<MemoryMedium>& medium() const { return medium_; }

 private:
  struct Waiting {
    StoreBatch batch;
    CommitDone done;
    std::uint64_t sequence = 0;
  };
  bool PopOldest(bool performing, Waiting* oldest);
  bool Survives(StorePhase phase, std::uint64_t commit);
  void Perform(Waiting commit);
  Status Apply(const Waiting& commit);

  const std::shared_ptr<MemoryMedium> medium_;
  mutable Mutex mutex_;
  Epoch epoch_ GUARDED_BY(mutex_);
  bool manual_ GUARDED_BY(mutex_) = false;
  bool crashed_ GUARDED_BY(mutex_) = false;
  bool stopped_ GUARDED_BY(mutex_) = false;
  bool full_ GUARDED_BY(mutex_) = false;
  bool performing_ GUARDED_BY(mutex_) = false;
  std::uint64_t next_sequence_ GUARDED_BY(mutex_) = 1;
  std::uint64_t commits_ GUARDED_BY(mutex_) = 0;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  PhaseHook hook_ GUARDED_BY(mutex_);
  StoreMetrics metrics_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::procedure
