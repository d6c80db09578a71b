#include "tests/costs/syscall_counter.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace ratchet::costs {
namespace {

constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
constexpr int kCallStop = SIGTRAP | 0x80;

[[noreturn]] void RunTraced(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
  ::raise(SIGSTOP);
  ::execv(arguments[0], arguments.data());
  ::_exit(1);
}

// Returns the signal that the thread gets when it continues.
int Delivered(int status) {
  const int signal = WSTOPSIG(status);
  const bool of_ptrace = signal == kCallStop || signal == SIGSTOP || (status >> 16) != 0 || signal == SIGTRAP;
  return of_ptrace ? 0 : signal;
}

}  // namespace

std::optional<std::uint64_t> CountSystemCalls(const std::vector<std::string>& command) {
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) RunTraced(command);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
  if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, kOptions) != 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return std::nullopt;
  }
  std::uint64_t stops = 0;  // one at the begin and one at the end of each call
  ::ptrace(PTRACE_SYSCALL, child, nullptr, 0);
  while (true) {
    const pid_t thread = ::waitpid(-1, &status, __WALL);
    if (thread < 0) return std::nullopt;
    if (WIFSTOPPED(status)) {
      if (WSTOPSIG(status) == kCallStop) ++stops;
      ::ptrace(PTRACE_SYSCALL, thread, nullptr, Delivered(status));
    } else if (thread == child) {
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional(stops / 2) : std::nullopt;
    }
  }
}

}  // namespace ratchet::costs
