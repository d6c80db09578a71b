// The storage operations that this process has in progress, and since when: writes and syncs of files, and other code
// that waits for the storage and registers here. For a thread that needs no storage and has to know whether the storage
// hangs, S76 (withdraw with permission).
//
// A sync of much data takes its time: the time for its data, at a rate that any storage reaches, is subtracted from its
// age. Thread-safe; never waits for storage.
#pragma once

#include <cstdint>
#include <list>
#include <optional>

#include "common/base/clock.h"
#include "common/base/latency.h"
#include "common/base/mutex.h"

namespace ratchet::io {

class SyncWatch {
 public:
  // `clock` outlives the watch.
  explicit SyncWatch(const Clock& clock) : clock_(clock) {}
  SyncWatch(const SyncWatch&) = delete;
  SyncWatch& operator=(const SyncWatch&) = delete;
  // For this process's files (PosixDisk); never freed.
  [[nodiscard]] static SyncWatch& OfProcess();
  // Returns OfProcess, unless the calling thread has named another watch, because its files are not the cluster's.
  // `watch` must outlive the thread.
  [[nodiscard]] static SyncWatch& OfThisThread();
  static void UseOnThisThread(SyncWatch& watch);

  // One operation in progress, from construction to destruction.
  class Operation {
   public:
    Operation(SyncWatch& watch, std::uint64_t bytes);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    // Call when the operation has sent data to the storage and returned. So the storage has answered a request that was
    // made at or after the start of this operation.
    void Proves() { proves_ = true; }

   private:
    SyncWatch& watch_;
    const TimePoint began_;
    bool proves_ = false;
    std::list<TimePoint>::iterator entry_;
  };

  // The age of the oldest operation, less the time for its data; nullopt when none is in progress.
  [[nodiscard]] std::optional<Millis> OldestUnfinished() const;
  // The time since the beginning of the newest operation that proved something.
  [[nodiscard]] std::optional<Millis> Proof() const;
  // The durations of the operations that proved something: syncs.
  [[nodiscard]] LatencySnapshot Syncs() const { return syncs_.Look(); }

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  std::list<TimePoint> under_way_ GUARDED_BY(mutex_);  // the time at which each counts as begun
  std::optional<TimePoint> proven_at_ GUARDED_BY(mutex_);
  Latency syncs_;
};

}  // namespace ratchet::io
