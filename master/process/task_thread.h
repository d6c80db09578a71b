// A thread for requested work that may take long, one task after the other, with a bounded queue.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "common/base/mutex.h"

namespace ratchet::master {

// Thread-safe.
class TaskThread {
 public:
  // `most_waiting`: maximum number of queued tasks.
  TaskThread(std::string name, std::size_t most_waiting);
  ~TaskThread();  // Stop()
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;
  // Returns false if the queue is full, which is logged, or the thread was stopped.
  [[nodiscard]] bool Run(std::function<void()> work);
  // Waits for the running task, and drops queued ones.
  void Stop();

 private:
  void Work();

  const std::string name_;
  const std::size_t most_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> waiting_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ratchet::master
