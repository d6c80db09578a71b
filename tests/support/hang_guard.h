// Ends the process when a run of a simulation makes no progress. A simulation is one thread, so a mutex that it locks
// twice or an endless loop would otherwise block a test for its whole time limit, without printing a seed.
//
// One guard at a time in a process, in any thread; it uses SIGALRM. The limit is only for hangs: a thousand times the
// duration of a run.
#pragma once

#include <string>

namespace ratchet::testing {

class HangGuard {
 public:
  // `what` is printed when the limit passes, with the stack of the thread that the signal interrupts; then the process
  // aborts.
  explicit HangGuard(const std::string& what, unsigned limit_seconds = 300);
  ~HangGuard();
  void Progress() const;  // the limit starts again
  HangGuard(const HangGuard&) = delete;
  HangGuard& operator=(const HangGuard&) = delete;

 private:
  const unsigned limit_seconds_;
};

}  // namespace ratchet::testing
