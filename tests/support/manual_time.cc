#include "tests/support/manual_time.h"

#include <algorithm>

namespace ratchet {

TimePoint ManualTime::Now() const {
  MutexLock lock(mutex_);
  return now_;
}

std::int64_t ManualTime::WallMillis() const {
  MutexLock lock(mutex_);
  return wall_start_ + std::chrono::duration_cast<Millis>(now_.time_since_epoch()).count();
}

Timers::Handle ManualTime::After(Millis delay, std::function<void()> callback) {
  MutexLock lock(mutex_);
  const Handle handle = ++last_handle_;
  queue_.emplace(std::pair(now_ + delay, handle), std::move(callback));
  return handle;
}

bool ManualTime::Cancel(Handle handle) {
  MutexLock lock(mutex_);
  const auto found =
      std::find_if(queue_.begin(), queue_.end(), [handle](const auto& entry) { return entry.first.second == handle; });
  if (found == queue_.end()) return false;
  queue_.erase(found);
  return true;
}

bool ManualTime::RunDue(TimePoint until) {
  std::function<void()> callback;
  {
    MutexLock lock(mutex_);
    if (queue_.empty() || queue_.begin()->first.first > until) return false;
    now_ = std::max(now_, queue_.begin()->first.first);
    callback = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
  }
  callback();
  return true;
}

void ManualTime::Advance(Millis step) {
  const TimePoint until = Now() + step;
  while (RunDue(until)) {
  }
  MutexLock lock(mutex_);
  now_ = std::max(now_, until);
}

bool ManualTime::RunNext() { return RunDue(TimePoint::max()); }

std::size_t ManualTime::pending() const {
  MutexLock lock(mutex_);
  return queue_.size();
}

}  // namespace ratchet
