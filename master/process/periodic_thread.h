// A thread for periodic work that may take long, so that no timer waits for it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/mutex.h"

namespace ratchet::master {

class PeriodicThread {
 public:
  // Runs `work` every `interval`, counted from the end of the previous run, and never twice at a time.
  PeriodicThread(std::string name, Live<Millis> interval, std::function<void()> work);
  ~PeriodicThread();  // Stop()
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;
  // Waits for a running `work`.
  void Stop();
  // Runs the work now, or after the current run, and then calls `done` on this thread, with false if the thread stops
  // before. Returns false, and calls nothing, if kMostWaiting callers wait already or the thread has stopped.
  [[nodiscard]] bool RunSoon(std::function<void(bool ran)> done);
  static constexpr std::size_t kMostWaiting = 64;

 private:
  void Run();

  const std::string name_;
  const Live<Millis> interval_;
  const std::function<void()> work_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::function<void(bool ran)>> waiting_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace ratchet::master
