// Delivers SIGTERM and SIGINT, and for a server SIGHUP, as callbacks on a thread of its own.
#pragma once

#include <functional>
#include <thread>

namespace ratchet {

// Make it first in main: the constructor blocks the signals, and every thread started later inherits that. SIGPIPE is
// ignored from then on.
class StopSignals {
 public:
  // `on_signal` is called for the first of SIGTERM and SIGINT, with its name, on the thread "signals", and `on_again`
  // for each further one. With `on_hangup` each SIGHUP calls that instead of ending the process.
  explicit StopSignals(std::function<void(const char* name)> on_signal, std::function<void()> on_hangup = nullptr,
                       std::function<void()> on_again = nullptr);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  std::thread thread_;
};

}  // namespace ratchet
