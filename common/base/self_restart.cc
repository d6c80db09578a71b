#include "common/base/self_restart.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/exit_codes.h"
#include "common/base/fault_env.h"
#include "common/base/log.h"
#include "common/base/mutant.h"

namespace ratchet {
namespace {

constexpr const char* kPastVariable = "RATCHET_PAST_LIVES";
constexpr Millis kFirstPause{100};

bool ConsumeNumber(std::string_view& text, std::uint32_t* number) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto parsed = std::from_chars(text.data(), text.data() + slash, *number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + slash) return false;
  text.remove_prefix(slash + 1);
  return true;
}

std::string OneLine(std::string_view text) {
  std::string line(text.substr(0, kMaxReason));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

// Only a few system calls are made between this one and exec. A descriptor that another thread opens in between without
// the flag (a socket of the RPC library) is inherited, which only wastes a number.
void CloseAllAtExec() {
  if (::syscall(SYS_close_range, 3U, ~0U, static_cast<unsigned>(CLOSE_RANGE_CLOEXEC)) == 0) return;
  const long most = ::sysconf(_SC_OPEN_MAX);  // a kernel before 5.11
  for (int fd = 3; fd < std::min(most, 65'536L); ++fd) {
    if (const int flags = ::fcntl(fd, F_GETFD); flags >= 0) ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

bool IsVariable(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.substr(0, name.size()) == name && entry[name.size()] == '=';
}

// Returns the path of the program's file. With this path the restarted process keeps its name, and runs the new program
// if the file was replaced meanwhile.
std::string ProgramFile() {
  std::string file(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", file.data(), file.size());
  file.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  constexpr std::string_view kReplaced = " (deleted)";
  if (file.ends_with(kReplaced)) file.resize(file.size() - kReplaced.size());
  return file;
}

}  // namespace

std::string ToText(const RestartHistory& history) {
  return fmt::format("{}/{}/{}", history.count, history.in_a_row, OneLine(history.why));
}

RestartHistory ParseRestartHistory(std::string_view text) {
  RestartHistory history;
  if (!ConsumeNumber(text, &history.count) || !ConsumeNumber(text, &history.in_a_row)) return {};
  history.why = OneLine(text);
  return history;
}

RestartHistory HistoryOfNext(const RestartHistory& history, const ExitReason& reason, Millis ran_for) {
  RestartHistory next;
  next.count = history.count + 1;
  next.in_a_row = ran_for >= kCalmRun ? 1 : history.in_a_row + 1;
  next.why = OneLine(fmt::format("code {}: {}", reason.code, reason.why));
  return next;
}

Millis DelayBefore(const RestartHistory& history) {
  if (history.in_a_row < 2) return Millis(0);
  const std::uint32_t doublings = std::min(history.in_a_row - 2, 20U);
  return std::min(kFirstPause * (1 << doublings), kLongestDelay);
}

bool ShouldRestart(int exit_code, const RestartHistory& history) {
  switch (exit_code) {
    case exit_code::kSessionExpired:
    case exit_code::kFenced:
    case exit_code::kRefusedByMaster:
    case exit_code::kStorageHangs:
    case exit_code::kNoRoom: return true;
    // The process has had all of them before, so the settings are valid: the missing resource may return.
    case exit_code::kRootUnusable:
    case exit_code::kNoDescriptors:
    case exit_code::kNoAddress:
    case exit_code::kZooKeeperUnreachable: return history.count > 0;
    default: return exit_code != exit_code::kOk && RATCHET_MUTANT("restart.after_any_end");
  }
}

SelfRestart::SelfRestart(const Clock& clock, char* const* argv) : clock_(clock), argv_(argv), began_(clock.Now()) {
  const char* left = std::getenv(kPastVariable);
  if (left == nullptr) return;
  history_ = ParseRestartHistory(left);
  ::unsetenv(kPastVariable);
}

bool SelfRestart::AwaitDelay(ExitLatch& exit) const {
  if (history_.count == 0) return !exit.requested().has_value();
  const Millis pause = DelayBefore(history_);
  RATCHET_LOG(kWarn, "Start: this process restarted itself, {} times so far, {} in a row, after {}; it begins in {} ms",
              history_.count, history_.in_a_row, history_.why, pause.count());
  return pause.count() == 0 ? !exit.requested().has_value() : !exit.WaitFor(pause);
}

void SelfRestart::Go(const ExitReason& reason) const {
  const auto ran_for = std::chrono::duration_cast<Millis>(clock_.Now() - began_);
  const std::string file = ProgramFile();
  // A copy: other threads may be reading the environment.
  std::string left = fmt::format("{}={}", kPastVariable, ToText(HistoryOfNext(history_, reason, ran_for)));
  std::vector<char*> environment{left.data()};
  // Fault points are armed for one incarnation: the next one starts without them.
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!IsVariable(*entry, kPastVariable) && !IsVariable(*entry, kFaultsVariable)) environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  CloseAllAtExec();
  ::execve(file.empty() ? argv_[0] : file.c_str(), argv_, environment.data());
}

}  // namespace ratchet
