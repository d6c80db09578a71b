// Opens many regions with few syncs (S133: shared syncs).
//
// Each opening makes the same steps in the same order as alone (open_steps.h). Only the two syncs of an opening are
// shared: those openings that wait for the same sync when it begins get it together, one syncfs for many of them, or
// single syncs on a few threads. An opening that comes to this point while a sync runs waits for the next one.
//
// A group is never waited for: a thread syncs what is there as soon as no opening is ready for the step before. So one
// opening alone is not delayed. A slow sync delays those that share it and those that wait for the next one; other
// steps that are slow delay no others.
//
// Owner: OrderHandlers. Thread-safe; it runs on the threads of the lane of regions. Openings in progress are bounded,
// because each may have a file open; others wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/file_system_sync.h"
#include "regionserver/orders/lane_pool.h"

namespace ratchet::regionserver {

// One opening. The functions of one job are called one at a time, on any thread of the lane.
class OpenJob {
 public:
  // The steps of an opening whose results must be durable before the next step.
  enum class Step { kClaim, kTakeOver };

  virtual ~OpenJob() = default;
  // Returns false when the job has ended: it has failed, or had nothing to do.
  virtual bool Run(Step step) = 0;
  // Makes the result of the step durable.
  [[nodiscard]] virtual Status Sync(Step step) = 0;
  // Another sync has made it durable: one that began after the step, and covers the directory and the file.
  virtual void NoteDurable(Step step) = 0;
  [[nodiscard]] virtual io::Directory& directory() = 0;
  // The file that the step has changed; null: none.
  [[nodiscard]] virtual io::WritableFile* file(Step step) = 0;
  // Both end the job.
  virtual void Finish() = 0;
  virtual void Fail(const Error& error) = 0;
};

struct GroupLimits {
  std::size_t most_together = 256;  // openings that get one sync
  std::size_t most_single = 3;      // up to this number, single syncs cost less than a sync of the file system
  std::size_t sync_threads = 8;     // for single syncs at the same time
  std::size_t most_active = 512;    // openings in progress
};

// The limits of a process that may have this number of descriptors: at most an eighth is for openings in progress.
[[nodiscard]] GroupLimits LimitsFor(std::uint64_t descriptors);

class GroupOpener {
 public:
  // `root` and `lanes` outlive the opener.
  GroupOpener(io::Directory& root, Lanes& lanes, GroupLimits limits = {})
      : root_(root), lanes_(lanes), limits_(limits) {}
  GroupOpener(const GroupOpener&) = delete;
  GroupOpener& operator=(const GroupOpener&) = delete;

  // Returns before the job ends, unless the lanes run their work at once.
  void Add(std::shared_ptr<OpenJob> job);

 private:
  struct Entry {
    std::shared_ptr<OpenJob> job;
    std::shared_ptr<const io::FileSystemSync> sync;  // made before the first write of the job; null: none
  };
  using Entries = std::vector<Entry>;
  // One step and the sync that follows it.
  struct Stage {
    std::deque<Entry> ready;  // wait for the step
    std::deque<Entry> made;   // wait for the sync
    bool syncing = false;
  };

  void Post(std::size_t count);
  void Work();
  void RunOne();
  void RunStep(OpenJob::Step step, Entry entry);
  // Syncs what is due after the step. Returns the number of openings that became ready; nullopt: nothing was due.
  [[nodiscard]] std::optional<std::size_t> SyncDue(OpenJob::Step step);
  [[nodiscard]] Stage& StageOf(OpenJob::Step step) REQUIRES(mutex_) {
    return step == OpenJob::Step::kClaim ? claims_ : records_;
  }
  void SyncTogether(OpenJob::Step step, Entries& group);
  void Ended();
  [[nodiscard]] std::shared_ptr<const io::FileSystemSync> FileSystem();

  io::Directory& root_;
  Lanes& lanes_;
  const GroupLimits limits_;

  Mutex mutex_;
  std::deque<Entry> waiting_ GUARDED_BY(mutex_);  // begin when others have ended
  std::size_t active_ GUARDED_BY(mutex_) = 0;
  // For each entry that is ready, in the stages and to finish, one piece of work is in the lane.
  Stage claims_ GUARDED_BY(mutex_);
  Stage records_ GUARDED_BY(mutex_);
  std::deque<Entry> finishing_ GUARDED_BY(mutex_);

  Mutex file_system_mutex_;
  std::weak_ptr<const io::FileSystemSync> file_system_ GUARDED_BY(file_system_mutex_);
};

}  // namespace ratchet::regionserver
