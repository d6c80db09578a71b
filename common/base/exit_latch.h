// The reason and the exit code with which the process ends. Any thread may request; the first reason wins; main waits.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet {

struct ExitReason {
  int code = 0;
  std::string why;
};

// Thread-safe.
class ExitLatch {
 public:
  void Request(int code, std::string why) {
    MutexLock lock(mutex_);
    if (reason_.has_value()) {
      if (reason_->code == 0 && code != 0 && !overtaken_.has_value()) overtaken_ = ExitReason{code, std::move(why)};
      return;
    }
    reason_ = ExitReason{code, std::move(why)};
    requested_.NotifyAll();
  }
  [[nodiscard]] std::optional<ExitReason> requested() const {
    MutexLock lock(mutex_);
    return reason_;
  }
  // After a request with code 0, a requested stop: the reason for which the process would have had to end meanwhile.
  [[nodiscard]] std::optional<ExitReason> overtaken() const {
    MutexLock lock(mutex_);
    return overtaken_;
  }
  [[nodiscard]] ExitReason Wait() {
    MutexLock lock(mutex_);
    while (!reason_.has_value()) requested_.Wait(mutex_);
    return *reason_;
  }
  // Waits for at most `pause`; true when an exit is requested.
  [[nodiscard]] bool WaitFor(Millis pause) {
    MutexLock lock(mutex_);
    if (!reason_.has_value()) requested_.WaitFor(mutex_, pause);
    return reason_.has_value();
  }

 private:
  mutable Mutex mutex_;
  CondVar requested_;
  std::optional<ExitReason> reason_ GUARDED_BY(mutex_);
  std::optional<ExitReason> overtaken_ GUARDED_BY(mutex_);
};

}  // namespace ratchet
