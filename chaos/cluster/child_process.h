// Starting, watching and signalling processes, so that nothing is ever done to a process that we did not start.
//
// A pid alone may belong to another process by now; a pid together with its start time in the kernel does not. Every
// signal checks both. Functions are thread-safe; a child that dies with its parent dies with the THREAD that launched
// it.
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

// Of a server that is to break at these fault points (FaultPoints::ArmFromText), and may.
[[nodiscard]] Environment ArmedWith(std::string faults);

struct ProcessId {
  int pid = 0;                     // 0: none
  std::uint64_t kernel_start = 0;  // field 22 of /proc/<pid>/stat, clock ticks since boot
  auto operator<=>(const ProcessId&) const = default;
};

struct LaunchSpec {
  std::vector<std::string> arguments;  // arguments[0]: the program, found through PATH when it has no '/'
  Environment environment;             // added to ours
  std::filesystem::path output;        // stdout and stderr are appended here
  std::filesystem::path directory;     // working directory; empty: ours
  bool dies_with_us = true;            // SIGKILL when the launching thread ends
};

// Errors: kNotFound when there is no such program, kIo otherwise.
[[nodiscard]] Result<ProcessId> Launch(const LaunchSpec& spec);

// Of a process that another program has started; kNotFound.
[[nodiscard]] Result<ProcessId> IdOf(int pid);
// Exists, is the very same process, and is not a zombie.
[[nodiscard]] bool IsAlive(const ProcessId& id);
// 'R', 'S', 'D', 'T' (stopped), 'Z' as in /proc; 0 when it is gone.
[[nodiscard]] char KernelState(const ProcessId& id);
// A process that has ended; `code` (128 + signal when killed) is known of our own children only.
struct Ended {
  std::optional<int> code;
};
// nullopt while it lives. Our child has ended when the kernel gives its code, which is a moment after /proc calls it a
// zombie.
[[nodiscard]] std::optional<Ended> CheckEnded(const ProcessId& id);
// kNotFound when the process is gone or is another one.
[[nodiscard]] Status Signal(const ProcessId& id, int signal);

// A port on the loopback that no process listens on, outside the range from which the kernel takes ports for outgoing
// connections, so that a process can be restarted on it. Never the same one twice in one process.
[[nodiscard]] Result<std::uint16_t> PickFreePort();

// Polls `condition` every few milliseconds until it is true: the one kind of waiting that tests and tools do. On
// time-out the error names `what`.
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
