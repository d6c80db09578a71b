// Storage watchdog: probes the storage from time to time, on a thread that may hang there. If the storage hangs while
// it answers others, the process leaves the cluster, S76 (withdraw with permission), from a thread that needs no
// storage at all.
//
// Withdrawing is liveness only: the fence keeps a hanging server from doing harm. It has two conditions: an operation
// has been in progress for longer than `limit`, and the cluster has reported within the last moments that others are
// better off (Permit). Then `leave` closes the session, so that others no longer count on this process, and `end` ends
// it. `last_resort` is called if it has not ended in time: an end may write a line of log, and that may hang too.
//
// Owner: the process; its end needs no destructor. Threads: all methods from any thread; "storage-look" runs the
// checks, "storage-watch" the rest.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/io/sync_watch.h"

namespace ratchet::io {

struct StorageWatchOptions {
  Live<Millis> limit{Millis{10'000}};  // 0: never withdraws
  Millis permission_holds{3'000};      // after it the cluster may be in another state
  Millis end_within{3'000};            // time limit of `end`; then `last_resort`
};

struct StorageWatchParts {
  std::function<void()> look;                 // CHECK and other small file operations; also a proof when `prove` was
                                              // requested
  std::function<void()> prove;                // writes and syncs something
  std::function<bool(Millis age)> permitted;  // called when `limit` is reached; empty: only Permit counts
  std::function<void()> leave;                // needs no storage; bounded
  std::function<void(const std::string& why)> end;
  std::function<void(const std::string& why)> last_resort;
};

class StorageWatch {
 public:
  // `watch` and the objects that the parts use outlive this object.
  StorageWatch(const Clock& clock, SyncWatch& watch, StorageWatchOptions options, StorageWatchParts parts);
  // Waits for a running look.
  ~StorageWatch();
  StorageWatch(const StorageWatch&) = delete;
  StorageWatch& operator=(const StorageWatch&) = delete;

  // Starts one check on the other thread, unless one is running already. Never waits.
  void Look(bool prove);
  // The cluster reports that the storage answers other processes.
  void Permit();
  // The age of the oldest operation at the storage, the check included.
  [[nodiscard]] std::optional<Millis> OldestUnfinished() const { return watch_.OldestUnfinished(); }
  [[nodiscard]] std::optional<Millis> Proof() const { return watch_.Proof(); }
  [[nodiscard]] Millis limit() const;
  // After the return, no withdrawal and no check begins.
  void Stop();

 private:
  struct Impl;
  SyncWatch& watch_;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::io
