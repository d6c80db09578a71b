// Bounds how many requests are under way at once; the others wait in line. A server's queues are bounded too, and what
// they refuse has to be sent again: a table of thousands of regions would never get all its rows into hbase:meta.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

#include "common/base/mutex.h"

namespace ratchet::master {

// Thread-safe. Jobs begin in the order in which they came, on the thread of the caller that came or left.
class SendWindow {
 public:
  explicit SendWindow(std::size_t limit) : limit_(limit) {}

  // Begins `job` now or when there is room. The beginner calls Left once, which may be before the job returns.
  void Enter(std::function<void()> job) {
    {
      MutexLock lock(mutex_);
      line_.push_back(std::move(job));
    }
    Pump();
  }
  void Left() {
    {
      MutexLock lock(mutex_);
      --under_way_;
    }
    Pump();
  }

 private:
  // One thread at a time begins jobs: those that fail at once come back here, and must not nest by the thousand.
  void Pump() {
    for (;;) {
      std::function<void()> job;
      {
        MutexLock lock(mutex_);
        if (pumping_ || line_.empty() || under_way_ >= limit_) return;
        job = std::move(line_.front());
        line_.pop_front();
        ++under_way_;
        pumping_ = true;
      }
      job();
      MutexLock lock(mutex_);
      pumping_ = false;
    }
  }

  const std::size_t limit_;
  Mutex mutex_;
  std::deque<std::function<void()>> line_ GUARDED_BY(mutex_);
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  bool pumping_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::master
