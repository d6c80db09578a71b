// A clock and timers that move only when the test moves them: for simulation and tests.
#pragma once

#include <map>
#include <utility>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet {

// Thread-safe; callbacks run on the thread that calls Advance or RunNext, outside any lock.
class ManualTime final : public Clock, public Timers {
 public:
  explicit ManualTime(std::int64_t wall_millis = 1'700'000'000'000) : wall_start_(wall_millis) {}

  [[nodiscard]] TimePoint Now() const override;
  [[nodiscard]] std::int64_t WallMillis() const override;
  Handle After(Millis delay, std::function<void()> callback) override;
  bool Cancel(Handle handle) override;

  // Moves time forward by `step` and runs what became due, in order of due time.
  void Advance(Millis step);
  // Jumps to the earliest timer and runs it; false when there is none.
  bool RunNext();
  [[nodiscard]] std::size_t pending() const;

 private:
  bool RunDue(TimePoint until);

  const std::int64_t wall_start_;
  mutable Mutex mutex_;
  TimePoint now_ GUARDED_BY(mutex_){};
  Handle last_handle_ GUARDED_BY(mutex_) = 0;
  std::map<std::pair<TimePoint, Handle>, std::function<void()>> queue_ GUARDED_BY(mutex_);
};

}  // namespace ratchet
