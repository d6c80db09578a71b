#include "tests/support/hang_guard.h"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace ratchet::testing {
namespace {

// The data that a signal handler reads: no allocation, no lock.
std::array<char, 256> message{};
std::size_t message_size = 0;

void Write(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
}

void OnAlarm(int) {
  Write("this run hangs: ");
  Write(std::string_view(message.data(), message_size));
  Write("\n");
  std::array<void*, 64> frames{};
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
  std::abort();
}

}  // namespace

HangGuard::HangGuard(const std::string& what, unsigned limit_seconds) : limit_seconds_(limit_seconds) {
  message_size = std::min(what.size(), message.size());
  std::copy_n(what.begin(), message_size, message.begin());
  std::array<void*, 1> first{};
  ::backtrace(first.data(), 1);  // loads what it needs now, not inside the handler
  struct sigaction action {};
  action.sa_handler = OnAlarm;
  ::sigaction(SIGALRM, &action, nullptr);
  Progress();
}

void HangGuard::Progress() const { ::alarm(limit_seconds_); }

HangGuard::~HangGuard() { ::alarm(0); }

}  // namespace ratchet::testing
