#include "procedure/engine/idle_workers.h"

namespace ratchet::procedure {

void IdleWorkers::WakeFirst() {
  Seat* const first = line_.head;
  line_.Remove(first);
  --sleepers_;
  first->woken = true;
  first->cond.NotifyOne();  // under the mutex: the seat is gone once its worker has left
}

void IdleWorkers::Ring() {
  MutexLock lock(mutex_);
  if (line_.empty()) {
    waking_ = false;  // all are awake: they see the news before they sleep
  } else {
    WakeFirst();
  }
}

bool IdleWorkers::Sleep(std::uint64_t seen, Millis idle) {
  MutexLock lock(mutex_);
  ++sleepers_;  // before the check for news: Announce counts first and looks for sleepers then
  if (closed_ || news_ != seen) {
    --sleepers_;
    return !closed_;
  }
  Seat seat;
  line_.PushFront(&seat);
  bool in_time = true;
  while (!seat.woken && in_time) {
    if (idle.count() > 0) {
      in_time = seat.cond.WaitFor(mutex_, idle);
    } else {
      seat.cond.Wait(mutex_);
    }
  }
  if (!seat.woken) {
    line_.Remove(&seat);
    --sleepers_;
    return news_ != seen;
  }
  waking_ = false;
  return !closed_;
}

void IdleWorkers::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  while (!line_.empty()) WakeFirst();
}

}  // namespace ratchet::procedure
