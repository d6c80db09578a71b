// Looks after the storage of a process: has it looked at now and then, on a thread that may hang there, and withdraws
// from a cluster whose storage answers others (S76), from a thread that needs no storage at all.
//
// Withdrawing is liveness only: what keeps a server that hangs from doing harm is its fence. It takes two: something
// has been under way for longer than `limit`, and the cluster has said within the last moments that others are better
// off (Permit). Then `leave` gives up what makes others count on this process (its session), and `end` ends it.
// `last_resort` comes when it has not ended by then: an end may write a line of log, and that may hang too.
//
// Owner: the process; its end needs no destructor. Threads: all methods from any thread; "storage-look" runs the looks,
// "storage-watch" the rest.
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
  Millis permission_holds{3'000};      // beyond it the cluster may look different
  Millis end_within{3'000};            // of `end`; then `last_resort`
};

struct StorageWatchParts {
  std::function<void()> look;                 // CHECK and other small file work; a proof too when `prove` was asked for
  std::function<void()> prove;                // writes and syncs something
  std::function<bool(Millis age)> permitted;  // asked when `limit` is reached; empty: only Permit counts
  std::function<void()> leave;                // needs no storage; bounded
  std::function<void(const std::string& why)> end;
  std::function<void(const std::string& why)> last_resort;
};

class StorageWatch {
 public:
  // `watch` and what the parts use outlive this object.
  StorageWatch(const Clock& clock, SyncWatch& watch, StorageWatchOptions options, StorageWatchParts parts);
  // Waits for a look that is under way.
  ~StorageWatch();
  StorageWatch(const StorageWatch&) = delete;
  StorageWatch& operator=(const StorageWatch&) = delete;

  // One look on the other thread, unless one is under way already. Never waits.
  void Look(bool prove);
  // The cluster says that others are better off.
  void Permit();
  // How long the oldest work at the storage goes on, the look included.
  [[nodiscard]] std::optional<Millis> OldestUnfinished() const { return watch_.OldestUnfinished(); }
  [[nodiscard]] std::optional<Millis> Proof() const { return watch_.Proof(); }
  [[nodiscard]] Millis limit() const;
  // No withdrawal and no look begins any more.
  void Stop();

 private:
  struct Impl;
  SyncWatch& watch_;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::io
