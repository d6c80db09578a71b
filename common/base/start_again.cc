#include "common/base/start_again.h"

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
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/proving.h"

namespace ratchet {
namespace {

constexpr const char* kPastVariable = "RATCHET_PAST_LIVES";
constexpr Millis kFirstPause{100};

bool TakeNumber(std::string_view& text, std::uint32_t* number) {
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

// A handful of calls of the kernel stand between this and exec; a descriptor that another thread opens in between
// without the flag (the RPC library's sockets) would be inherited, and is no more than that: an open number.
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

// The program's file by its name, so that the process keeps its name, and one that was replaced meanwhile is the new
// one.
std::string ProgramFile() {
  std::string file(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", file.data(), file.size());
  file.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  constexpr std::string_view kReplaced = " (deleted)";
  if (file.ends_with(kReplaced)) file.resize(file.size() - kReplaced.size());
  return file;
}

}  // namespace

std::string ToText(const PastLives& past) {
  return fmt::format("{}/{}/{}", past.count, past.in_a_row, OneLine(past.why));
}

PastLives ParsePastLives(std::string_view text) {
  PastLives past;
  if (!TakeNumber(text, &past.count) || !TakeNumber(text, &past.in_a_row)) return {};
  past.why = OneLine(text);
  return past;
}

PastLives PastOfNext(const PastLives& past, const ExitReason& reason, Millis ran_for) {
  PastLives next;
  next.count = past.count + 1;
  next.in_a_row = ran_for >= kCalmRun ? 1 : past.in_a_row + 1;
  next.why = OneLine(fmt::format("code {}: {}", reason.code, reason.why));
  return next;
}

Millis PauseBefore(const PastLives& past) {
  if (past.in_a_row < 2) return Millis(0);
  const std::uint32_t doublings = std::min(past.in_a_row - 2, 20U);
  return std::min(kFirstPause * (1 << doublings), kLongestPauseBeforeAgain);
}

bool ComesAgainAfter(int exit_code, const PastLives& past) {
  if (RATCHET_MUTANT("again.after_any_end")) return exit_code != exit_code::kOk;
  switch (exit_code) {
    case exit_code::kSessionExpired:
    case exit_code::kFenced:
    case exit_code::kRefusedByMaster:
    case exit_code::kStorageHangs:
    case exit_code::kNoRoom: return true;
    // It has had all of them before, so none is a wrong setting: what is missing may come back.
    case exit_code::kRootUnusable:
    case exit_code::kNoDescriptors:
    case exit_code::kZooKeeperUnreachable: return past.count > 0;
    default: return false;
  }
}

StartAgain::StartAgain(const Clock& clock, char* const* argv) : clock_(clock), argv_(argv), began_(clock.Now()) {
  const char* left = std::getenv(kPastVariable);
  if (left == nullptr) return;
  past_ = ParsePastLives(left);
  ::unsetenv(kPastVariable);
}

bool StartAgain::AwaitTurn(ExitLatch& exit) const {
  if (past_.count == 0) return !exit.requested().has_value();
  const Millis pause = PauseBefore(past_);
  RATCHET_LOG(
      kWarn, "Start: this process comes again by itself, {} times until now, {} in a row, after {}; it begins in {} ms",
      past_.count, past_.in_a_row, past_.why, pause.count());
  return pause.count() == 0 ? !exit.requested().has_value() : !exit.WaitFor(pause);
}

void StartAgain::Go(const ExitReason& reason) const {
  const auto ran_for = std::chrono::duration_cast<Millis>(clock_.Now() - began_);
  const std::string file = ProgramFile();
  // A copy: other threads may be reading the environment.
  std::string left = fmt::format("{}={}", kPastVariable, ToText(PastOfNext(past_, reason, ran_for)));
  std::vector<char*> environment{left.data()};
  // Fault points are armed for one life: the next one meets no fault of the last.
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!IsVariable(*entry, kPastVariable) && !IsVariable(*entry, kFaultsVariable)) environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  CloseAllAtExec();
  ::execve(file.empty() ? argv_[0] : file.c_str(), argv_, environment.data());
}

}  // namespace ratchet
