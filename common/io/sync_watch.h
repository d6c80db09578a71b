// What this process has under way at its storage, and since when: writes and syncs of files, and whatever else waits
// for the storage and says so. For a thread that needs no storage and wants to know whether the storage hangs (S76).
//
// A sync of much data takes its time: what it has to bring there is taken off its age, at a rate that any storage keeps
// up with. Thread-safe; never waits for storage.
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
  // Of this process's files (PosixDisk); never freed.
  [[nodiscard]] static SyncWatch& OfProcess();

  // One operation under way, from construction to destruction.
  class Operation {
   public:
    Operation(SyncWatch& watch, std::uint64_t bytes);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    // It has brought data to the storage and come back: the storage answered what was begun when this began.
    void Proves() { proves_ = true; }

   private:
    SyncWatch& watch_;
    const TimePoint began_;
    bool proves_ = false;
    std::list<TimePoint>::iterator entry_;
  };

  // How long the oldest operation goes on, less what its data takes; nothing when none is under way.
  [[nodiscard]] std::optional<Millis> OldestUnfinished() const;
  // How long ago the newest operation that proved something began.
  [[nodiscard]] std::optional<Millis> Proof() const;
  // How long those took that proved something: syncs.
  [[nodiscard]] LatencySnapshot Syncs() const { return syncs_.Look(); }

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  std::list<TimePoint> under_way_ GUARDED_BY(mutex_);  // when each counts as begun
  std::optional<TimePoint> proven_at_ GUARDED_BY(mutex_);
  Latency syncs_;
};

}  // namespace ratchet::io
