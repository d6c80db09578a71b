// A value that one thread waits for and another one provides.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "common/base/mutex.h"

namespace ratchet::procedure {

// Shared by both sides, so that neither side destroys it while the other still uses it.
template <class T>
class Awaited {
 public:
  void Set(T value) {
    const MutexLock lock(mutex_);
    value_ = std::move(value);
    changed_.NotifyAll();
  }
  // nullopt: `halted` returned true, so no value will come.
  template <class IsHalted>
  std::optional<T> Wait(IsHalted halted) {
    while (true) {
      const bool over = halted();  // read before the value, so a value that came first is not missed
      const MutexLock lock(mutex_);
      if (value_ || over) return std::move(value_);
      changed_.WaitFor(mutex_, std::chrono::milliseconds(100));
      if (value_) return std::move(value_);
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<T> value_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::procedure
