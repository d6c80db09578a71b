// The procedure store on shared storage: a log of segments with one owner at a time.
//
// Commits are handed to one writer thread, which gathers all that came in since its last sync and makes one frame of
// them. A second thread fills spares, removes segments below the durable low-water mark, and reads stragglers for the
// writer. With WalStoreOptions::threads off nothing runs by itself: StepOnce and StepHousekeeping drive the store
// (simulation, tests). The bytes are described in frame.h; store_reader.h defines which segments count.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/io/disk.h"
#include "common/io/storage_proof.h"
#include "procedure/api/wal_store.h"
#include "procedure/store/commit_waits.h"
#include "procedure/store/pending_commit.h"
#include "procedure/store/root_guard.h"
#include "procedure/store/segment_name.h"

namespace ratchet::procedure {

struct RewriteRequest;
class SpareSegments;
struct StoreContents;
class WalWriter;

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
  std::uint64_t turn_ GUARDED_BY(mutex_) = 1;  // turn of the commits that are queued now (commit_waits.h)
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
