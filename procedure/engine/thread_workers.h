// Puts idle workers to sleep, and wakes them one at a time.
//
// A worker reads news(), looks for work, and if there is none calls Sleep with the number that it has read: it sleeps
// only if nothing was announced since. The adder of work announces it afterwards. So a piece of work is either found by
// the check, or its announcement is seen by Sleep, or the sleeper is seen by the announcement (each side writes before
// it reads; everything here is sequentially consistent).
//
// One wake is in progress at a time; during it Announce has nothing to do. That depends on two rules. A worker that was
// woken leaves Sleep, whatever it has read before, and clears the mark first, so that all announcements which relied on
// the mark precede its next check. It also wakes the next worker if there is more to do than it takes, which is its
// caller's part. A worker that was woken and slept on would keep the mark, and no other would be woken again.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "procedure/core/lists.h"

namespace ratchet::procedure {

class IdleWorkers {
 public:
  [[nodiscard]] std::uint64_t news() const { return news_; }

  // New work exists where a worker will find it. Returns true if the caller must call Ring soon. Takes no lock.
  [[nodiscard]] bool Announce() {
    ++news_;
    return sleepers_ != 0 && !waking_.exchange(true);
  }
  // Wakes the worker that fell asleep last; those that have slept longest reach the end of their idle time first.
  void Ring();

  // `seen`: news() before the worker looked. `idle`: the maximum time that it sleeps; 0: unlimited. Returns false if
  // the worker may end, because its idle time is over or Close was called.
  [[nodiscard]] bool Sleep(std::uint64_t seen, Millis idle);
  // Wakes all; no worker sleeps from then on.
  void Close();

  [[nodiscard]] std::size_t sleepers() const { return sleepers_; }

 private:
  // One sleeper, on its stack. Each has its own condition variable: a wake reaches the worker that it is meant for.
  struct Seat {
    Seat* prev = nullptr;
    Seat* next = nullptr;
    bool woken = false;
    CondVar cond;
  };
  void WakeFirst() REQUIRES(mutex_);

  std::atomic<std::uint64_t> news_{0};
  std::atomic<std::size_t> sleepers_{0};
  std::atomic<bool> waking_{false};  // a notifier is about to call Ring, or a woken worker has not left yet
  Mutex mutex_;
  Links<Seat> line_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::procedure
