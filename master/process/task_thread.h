// A thread of its own for work that is asked for and may take long, one piece after the other, with a bounded line.
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
  // At most `most_waiting` pieces wait.
  TaskThread(std::string name, std::size_t most_waiting);
  ~TaskThread();  // Stop()
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;
  // False: the line is full, which the log says, or it was stopped.
  [[nodiscard]] bool Run(std::function<void()> work);
  // Waits for the piece that is under way; what waits is dropped.
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
