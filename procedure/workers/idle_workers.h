// Where workers that have found nothing to do sleep, and how one of them is woken.
//
// A worker reads news(), looks for work, and calls Sleep with what it has read when there is none: it sleeps only if
// nothing was announced since. The adder of work announces it afterwards. So a piece of work is either seen by the
// look, or its announcement is seen by Sleep, or the sleeper is seen by the announcement (each side writes before it
// reads; everything here is sequentially consistent).
//
// One wake is under way at a time: while it is, Announce has nothing to do. That rests on two rules. A worker that was
// woken leaves Sleep, whatever it has read before, and takes the mark off first, so that all announcements which relied
// on it are before its next look. And it wakes the next one if there is more to do than it takes, which is its caller's
// part. A worker that was woken and slept on would keep the mark for ever, and none would be woken again.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "procedure/pure/intrusive_list.h"

namespace ratchet::procedure {

class IdleWorkers {
 public:
  [[nodiscard]] std::uint64_t news() const { return news_; }

  // New work is there, where a worker will find it. True: the caller has to call Ring, soon. Takes no lock.
  [[nodiscard]] bool Announce() {
    ++news_;
    return sleepers_ != 0 && !waking_.exchange(true);
  }
  // Wakes the worker that fell asleep last; those that have slept longest are the ones whose idle time ends first.
  void Ring();

  // `seen`: news() before the worker looked. `idle`: how long it sleeps at most; 0: as long as it takes. False: it may
  // go, its idle time is over or the line is closed.
  [[nodiscard]] bool Sleep(std::uint64_t seen, Millis idle);
  // Wakes all; none sleeps any more.
  void Close();

  [[nodiscard]] std::size_t sleepers() const { return sleepers_; }

 private:
  // Of one sleeper, on its stack. Each has its own condition: a wake reaches the one it is meant for.
  struct Seat {
    Seat* prev = nullptr;
    Seat* next = nullptr;
    bool woken = false;
    CondVar cond;
  };
  void WakeFirst() REQUIRES(mutex_);

  std::atomic<std::uint64_t> news_{0};
  std::atomic<std::size_t> sleepers_{0};
  std::atomic<bool> waking_{false};  // a notifier is about to ring, or a woken worker has not left yet
  Mutex mutex_;
  Links<Seat> line_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::procedure
