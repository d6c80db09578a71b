// Bounds the number of concurrent requests; the others wait in a queue. A server's queues are bounded too, and refused
// requests must be sent again: without this bound a table of thousands of regions would never get all its rows into
// hbase:meta.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

#include "common/base/mutex.h"

namespace ratchet::master {

// Thread-safe. Jobs begin in the order of Enter, on the thread that calls Enter or Left.
class SendWindow {
 public:
  explicit SendWindow(std::size_t limit) : limit_(limit) {}

  // Begins `job` now or when a slot is free. The caller calls Left once when the job is done, possibly before `job`
  // returns.
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
  // One thread at a time begins jobs, because jobs that fail at once call back here and must not nest deeply.
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
