// Makes a failure of a standstill: a test that takes longer than it may ends its process, after a word on where every
// thread is.
#pragma once

#include <string>
#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::chaos {

// From its construction to its destruction. One at a time in a process: it uses SIGUSR2.
class StandstillWatch {
 public:
  explicit StandstillWatch(Millis limit);
  ~StandstillWatch();
  StandstillWatch(const StandstillWatch&) = delete;
  StandstillWatch& operator=(const StandstillWatch&) = delete;

  // What the test is at; named if it stands still. Thread-safe.
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
