// Starts, watches and signals processes, and never touches a process that this program did not start.
//
// The kernel may reuse a pid, but not a pid together with its start time. Every signal checks both. Functions are
// thread-safe; a child that dies with its parent dies with the THREAD that launched it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

using Environment = std::map<std::string, std::string>;

// Environment of a server that arms these fault points (FaultPoints::ArmFromText) and is allowed to.
[[nodiscard]] Environment ArmedWith(std::string faults);

struct ProcessId {
  int pid = 0;                     // 0: no process
  std::uint64_t kernel_start = 0;  // field 22 of /proc/<pid>/stat, clock ticks since boot
  auto operator<=>(const ProcessId&) const = default;
};

struct LaunchSpec {
  std::vector<std::string> arguments;  // arguments[0]: the program, found through PATH when it has no '/'
  Environment environment;             // added to ours
  std::filesystem::path output;        // stdout and stderr are appended here
  int conversation = -1;               // a socket that becomes stdin and stdout instead; -1: none
  std::filesystem::path directory;     // working directory; empty: ours
  bool dies_with_us = true;            // SIGKILL when the launching thread ends
};

// Returns the program that Launch starts for this name: found through PATH when it has no '/'; empty if there is none.
[[nodiscard]] std::string FindProgram(const std::string& name);

// Errors: kNotFound when there is no such program, kIo otherwise.
[[nodiscard]] Result<ProcessId> Launch(const LaunchSpec& spec);

// Returns the id of a process that another program has started; kNotFound.
[[nodiscard]] Result<ProcessId> IdOf(int pid);
// True if the process exists, is the same process, and is not a zombie.
[[nodiscard]] bool IsAlive(const ProcessId& id);
// Returns 'R', 'S', 'D', 'T' (stopped), 'Z' as in /proc; 0 when the process is gone.
[[nodiscard]] char KernelState(const ProcessId& id);
// The end of a process; `code` (128 + signal when killed) is known only for our own children.
struct Ended {
  std::optional<int> code;
};
// Returns nullopt while the process lives. A child has ended when the kernel returns its exit code, shortly after /proc
// shows it as a zombie.
[[nodiscard]] std::optional<Ended> CheckEnded(const ProcessId& id);
// kNotFound when the process is gone or its pid belongs to another one.
[[nodiscard]] Status Signal(const ProcessId& id, int signal);

// Returns a loopback port on which no process listens, outside the range from which the kernel takes ports for outgoing
// connections, so that a process can be restarted on it. A process never returns the same port twice, nor one that
// another process has reserved.
[[nodiscard]] Result<std::uint16_t> PickFreePort();
// Reserves the port until this process ends: no other cluster on the machine chooses it before a process listens on it.
// Returns false if it is reserved already.
[[nodiscard]] bool ReservePort(std::uint16_t port);

// Polls `condition` every few milliseconds until it is true: the only way in which tests and tools wait. The error of a
// timeout names `what`.
template <class Condition>
[[nodiscard]] Status WaitUntil(const std::string& what, Millis timeout, Condition&& condition);

// A short pause between polls; grows from 2 ms to 20 ms with `round`.
void PollPause(int round);

template <class Condition>
Status WaitUntil(const std::string& what, Millis timeout, Condition&& condition) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (int round = 0;; ++round) {
    if (condition()) return Ok();
    if (std::chrono::steady_clock::now() >= until) {
      return Error(Code::kTimeout, what + ": not within " + std::to_string(timeout.count()) + " ms");
    }
    PollPause(round);
  }
}

}  // namespace ratchet::chaos
