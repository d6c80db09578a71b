#include "common/base/stop_signals.h"

#include <csignal>
#include <utility>

#include <pthread.h>

#include "common/base/thread_name.h"

namespace ratchet {
namespace {

constexpr int kEndSignal = SIGUSR1;  // the destructor ends the thread with this signal

sigset_t Handled(bool hangup) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, kEndSignal}) sigaddset(&set, signal);
  if (hangup) sigaddset(&set, SIGHUP);
  return set;
}

void WaitForSignal(const std::function<void(const char*)>& on_signal, const std::function<void()>& on_hangup,
                   const std::function<void()>& on_again) {
  SetThreadName("signals");
  const sigset_t set = Handled(on_hangup != nullptr);
  bool told = false;
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || signal == kEndSignal) return;
    if (signal == SIGHUP) {
      on_hangup();
      continue;
    }
    if (!std::exchange(told, true)) {
      on_signal(signal == SIGTERM ? "SIGTERM" : "SIGINT");
    } else if (on_again) {
      on_again();
    }
  }
}

}  // namespace

StopSignals::StopSignals(std::function<void(const char*)> on_signal, std::function<void()> on_hangup,
                         std::function<void()> on_again) {
  const sigset_t set = Handled(on_hangup != nullptr);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([callback = std::move(on_signal), hangup = std::move(on_hangup), again = std::move(on_again)] {
    WaitForSignal(callback, hangup, again);
  });
}

StopSignals::~StopSignals() {
  pthread_kill(thread_.native_handle(), kEndSignal);
  thread_.join();
}

}  // namespace ratchet
