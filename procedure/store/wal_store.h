// The procedure store on shared storage: a log of segments with one owner at a time.
//
// Commits are handed to one writer thread, which gathers all that came in since its last sync and makes one frame of
// them. A second thread fills spares, removes segments below the durable low-water mark, and reads stragglers for the
// writer. With WalStoreOptions::threads off nothing runs by itself: StepOnce and StepHousekeeping drive the store
// (simulation, tests). The bytes are described in format.h; reader.h defines which segments count.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/storage_proof.h"
#include "procedure/api/wal_store.h"
#include "procedure/store/claim.h"
#include "procedure/store/format.h"
#include "procedure/store/wal_writer.h"

namespace ratchet::procedure {

// Lets threads wait for their own commits: all waiters of one sync are woken together, and by no other sync.
//
// A commit is identified by its turn: how often the writer had emptied the queue when the commit was queued. All
// commits of a turn are completed before any of the next. So two futex words are enough, and a thread that sleeps at
// one is rarely woken for another turn. With a condition variable for each waiter the writer made a system call for
// each, which for twenty waiters took twice the time of their sync; now the next sync runs while they wake
// (docs/benchmarks.md).
//
// On the stack of the thread that waits.
class CommitWait {
 public:
  // Called by the writer, once. The waiter may be gone right after.
  void Complete(Result<std::uint64_t> outcome) {
    outcome_.emplace(std::move(outcome));
    ready_.store(true, std::memory_order_release);
  }

 private:
  friend class CommitWaits;
  std::optional<Result<std::uint64_t>> outcome_;
  std::atomic<bool> ready_{false};
};

class CommitWaits {
 public:
  // Any thread: blocks until `wait` was completed and its turn was woken.
  Result<std::uint64_t> Await(std::uint64_t turn, CommitWait& wait) {
    Word& word = words_[turn % words_.size()];
    for (;;) {
      const int seen = word.changes.load(std::memory_order_acquire);
      if (wait.ready_.load(std::memory_order_acquire)) return std::move(*wait.outcome_);
      word.changes.wait(seen, std::memory_order_acquire);
      if (word.others_sleep.exchange(false)) word.changes.notify_all();
    }
  }
  // Called by the writer after it completed commits of this turn. Wakes one waiter, which wakes the others, because the
  // writer has the next sync to begin.
  void Wake(std::uint64_t turn) {
    Word& word = words_[turn % words_.size()];
    word.others_sleep.store(true);
    word.changes.fetch_add(1);
    word.changes.notify_one();
  }

 private:
  struct alignas(64) Word {
    std::atomic<int> changes{0};  // an int: the type of a futex word
    std::atomic<bool> others_sleep{false};
  };
  std::array<Word, 2> words_{};
};

class WalStore final : public ProcedureStore {
 public:
  // The arguments of MakeWalStore.
  WalStore(std::unique_ptr<io::Directory> directory, std::unique_ptr<io::Directory> quarantine, const Clock& clock,
           WalStoreOptions options, std::shared_ptr<RootGuard> guard = nullptr);
  ~WalStore() override;

  Result<LoadedState> Claim() override;
  void Commit(StoreBatch batch, CommitDone done) override;
  bool AnnounceGroups(std::function<void()> ended) override;
  Result<std::uint64_t> CommitAndWait(StoreBatch batch) override;
  Status Check() override;
  std::uint64_t NextSequence() override { return next_sequence_.fetch_add(1, std::memory_order_relaxed); }
  Status Admit() override;
  void Stop() override;
  [[nodiscard]] StoreMetrics metrics() const override;

  // Writes one frame, if there is something to write; false when there was nothing to do or no space to do it.
  bool StepOnce();
  // Does one piece of background work; false when there was none.
  bool StepHousekeeping();

 private:
  enum class State : std::uint8_t { kNew, kOwner, kFenced, kDead, kStopped };

  std::optional<std::uint64_t> Enqueue(StoreBatch& batch, CommitDone& done);
  Result<LoadedState> ReportDamage(const StoreContents& contents);
  Status CheckOwner();
  bool AllowPids();
  bool MarkAge();
  void RunWriter();
  void RunHousekeeper();
  void AwaitFirstChores();
  bool WaitForWork();
  std::size_t DequeueGroup();
  void Complete(std::size_t count, const Error* failure);
  void FailBacklog();
  bool ReadForRewriting(std::unique_ptr<RewriteRequest> request);
  void RemoveDeadSegments(SegmentId low_water);
  void PublishCounters();

  const std::unique_ptr<io::Directory> directory_;
  const std::unique_ptr<io::Directory> quarantine_;
  const Clock& clock_;
  const WalStoreOptions options_;
  const std::shared_ptr<RootGuard> guard_;  // may be null
  const std::unique_ptr<SpareSegments> spares_;
  std::function<void()> group_ended_;  // constant after Claim
  Epoch epoch_;
  std::unique_ptr<const io::StorageProof> proof_;  // proof of this owner's claim; constant after Claim
  std::atomic<State> state_{State::kNew};
  std::atomic<std::uint64_t> next_sequence_{1};
  std::atomic<bool> stop_{false};

  // Used by the writer (thread or StepOnce) only.
  const std::unique_ptr<WalWriter> writer_;
  std::vector<PendingCommit> backlog_;  // taken from the queue; the first backlog_done_ are completed
  std::size_t backlog_done_ = 0;
  std::uint64_t backlog_turn_ = 0;
  ProcId group_pid_;  // the greatest pid of the group that is written next

  CommitWaits waits_;

  mutable Mutex mutex_;
  CondVar work_;
  CondVar chores_;
  std::vector<PendingCommit> queue_ GUARDED_BY(mutex_);
  std::uint64_t turn_ GUARDED_BY(mutex_) = 1;  // turn of the commits that are queued now (CommitWaits)
  bool writer_waits_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;  // no thread takes from the queue from then on
  StoreMetrics metrics_ GUARDED_BY(mutex_);
  // Between writer and housekeeper.
  SegmentId remove_below_ GUARDED_BY(mutex_);
  std::uint64_t durable_sequence_ GUARDED_BY(mutex_) = 0;
  std::unique_ptr<RewriteRequest> rewrite_ GUARDED_BY(mutex_);
  std::optional<std::vector<ProcedureUpsert>> rewritten_ GUARDED_BY(mutex_);

  // Housekeeper only.
  TimePoint marked_{};
  std::uint64_t marked_sequence_ = 0;
  std::uint64_t marked_rolls_ = 0;
  SegmentId removed_below_;
  SegmentId rewrite_trouble_;  // segment for which the read error was logged already
  std::thread writer_thread_;
  std::thread housekeeper_thread_;
};

}  // namespace ratchet::procedure
