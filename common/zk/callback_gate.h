// Guarantees for an object that no callback begins after Stop() has returned, although callbacks run on another thread.
#pragma once

#include <chrono>
#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::zk {

// Pause after an answer that is neither "connected" nor "wait for the connection"; rare.
inline constexpr Millis kRetryPause{100};

// Thread-safe. Callbacks of one gate never overlap (they all run on the session's thread).
class CallbackGate {
 public:
  // Runs `callback` unless the gate is closed.
  template <class Callback>
  void Run(Callback&& callback) {
    {
      MutexLock lock(mutex_);
      if (closed_) return;
      running_ = std::this_thread::get_id();
    }
    callback();
    MutexLock lock(mutex_);
    running_ = {};
    changed_.NotifyAll();
  }

  // Waits for a running callback, unless that callback itself closes the gate.
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
    while (running_ != std::thread::id() && running_ != std::this_thread::get_id()) changed_.Wait(mutex_);
  }

  // Waits `pause`, or less when the gate is closed meanwhile.
  void WaitUnlessClosed(std::chrono::milliseconds pause) {
    MutexLock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + pause;
    while (!closed_ && std::chrono::steady_clock::now() < until) {
      changed_.WaitFor(mutex_, until - std::chrono::steady_clock::now());
    }
  }

  [[nodiscard]] bool closed() const {
    MutexLock lock(mutex_);
    return closed_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool closed_ GUARDED_BY(mutex_) = false;
  std::thread::id running_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::zk
