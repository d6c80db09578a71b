// Turns a hang into a failure: a test that exceeds its time limit ends its process, after it has printed the stack of
// every thread.
#pragma once

#include <string>
#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::chaos {

// Active from construction to destruction. Only one at a time in a process, because it uses SIGUSR2.
class StandstillWatch {
 public:
  explicit StandstillWatch(Millis limit);
  ~StandstillWatch();
  StandstillWatch(const StandstillWatch&) = delete;
  StandstillWatch& operator=(const StandstillWatch&) = delete;

  // Sets the current action of the test, which is printed after a hang. Thread-safe.
  void At(std::string what);

 private:
  void Run(Millis limit);

  Mutex mutex_;
  CondVar changed_;
  bool over_ GUARDED_BY(mutex_) = false;
  std::string at_ GUARDED_BY(mutex_) = "the start";
  std::thread thread_;
};

}  // namespace ratchet::chaos
