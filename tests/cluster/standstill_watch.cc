#include "tests/cluster/standstill_watch.h"

#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace ratchet::chaos {
namespace {

constexpr int kMostFrames = 48;

// Prints addresses; `addr2line -Cfipe <program> <+offset>` converts them to lines.
void ShowStack(int /*signal*/) {
  void* frames[kMostFrames];
  backtrace_symbols_fd(frames, backtrace(frames, kMostFrames), STDERR_FILENO);
}

void ShowThreads() {
  void* one[1];
  backtrace(one, 1);  // loads libraries that the handler must not load
  struct sigaction show {};
  show.sa_handler = ShowStack;
  show.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &show, nullptr);
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/task", failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string number = entry->path().filename().string();
    int thread = 0;
    std::from_chars(number.data(), number.data() + number.size(), thread);
    std::string name;
    std::getline(std::ifstream(entry->path() / "comm"), name);
    std::fprintf(stderr, "\nthread %d %s\n", thread, name.c_str());
    std::fflush(stderr);
    if (syscall(SYS_tgkill, getpid(), thread, SIGUSR2) == 0) poll(nullptr, 0, 200);  // the thread prints its own stack
  }
}

}  // namespace

StandstillWatch::StandstillWatch(Millis limit) : thread_([this, limit] { Run(limit); }) {}

StandstillWatch::~StandstillWatch() {
  {
    MutexLock lock(mutex_);
    over_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void StandstillWatch::At(std::string what) {
  MutexLock lock(mutex_);
  at_ = std::move(what);
}

void StandstillWatch::Run(Millis limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  MutexLock lock(mutex_);
  while (!over_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) break;
    changed_.WaitFor(mutex_, until - now);
  }
  if (over_) return;
  std::fflush(stdout);
  std::fprintf(stderr, "\nSTANDSTILL: not over after %lld ms, at %s\n", static_cast<long long>(limit.count()),
               at_.c_str());
  ShowThreads();
  std::abort();
}

}  // namespace ratchet::chaos
