// A thread of its own for work that comes back and may take long, so that no timer waits for it.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::master {

class PeriodicThread {
 public:
  // `work` runs every `interval`, counted from the end of the run before, and never twice at a time.
  PeriodicThread(std::string name, Millis interval, std::function<void()> work);
  ~PeriodicThread();  // Stop()
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;
  // Waits for a run that is under way.
  void Stop();

 private:
  void Run();

  const std::string name_;
  const Millis interval_;
  const std::function<void()> work_;
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ratchet::master
