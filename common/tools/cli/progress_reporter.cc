#include "common/tools/cli/progress_reporter.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <fmt/core.h>
#include <unistd.h>

#include "common/client/admin.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/progress_text.h"

namespace ratchet::cli {
namespace {

constexpr Millis kPatience{1000};      // time after which the command reports why it waits
constexpr Millis kLook{100};           // interval between two checks
constexpr Millis kQuestion{1000};      // time limit of a request to the master about the procedure
constexpr Millis kBetween{1000};       // two lines
constexpr std::size_t kLongest = 400;  // maximum length of a line, in bytes

sigset_t Kept() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

// Returns the obstacle of this procedure itself; empty: none, or only procedures below it.
std::string Obstacle(const pb::ProcedureInfo& procedure) {
  if (procedure.has_paused() && !procedure.paused().empty()) return procedure.paused();
  if (procedure.has_last_error() && !procedure.last_error().empty()) {
    return fmt::format("{} (attempt {})", procedure.last_error(), procedure.attempt());
  }
  if (!procedure.waits_for().empty() && procedure.children_size() == 0) return procedure.waits_for();
  return {};
}

}  // namespace

std::string WaitText(const pb::GetProcedureResponse& answer) {
  if (!answer.has_procedure() || answer.procedure().finished()) return {};
  const pb::ProcedureInfo& procedure = answer.procedure();
  std::string text = Obstacle(procedure);
  // In a tree the obstacle is at the last unfinished procedure, below all others.
  for (int i = answer.tree_size(); text.empty() && i-- > 0;) {
    const pb::ProcedureInfo& member = answer.tree(i);
    if (member.finished() || member.pid() == procedure.pid()) continue;
    const std::string below = Obstacle(member);
    if (!below.empty()) text = fmt::format("pid {} {}: {}", member.pid(), member.type(), below);
  }
  if (text.empty()) {
    return fmt::format("pid {} continues: {}{}", procedure.pid(), procedure.type(),
                       procedure.step().empty() ? "" : ", step " + procedure.step());
  }
  return fmt::format("pid {} waits: {}", procedure.pid(), text);
}

std::string ContinueText(const client::Activity::View& view) {
  if (view.pid.has_value()) {
    return fmt::format("pid {} continues in the cluster; to wait for its end: ratchet wait {}", *view.pid, *view.pid);
  }
  if (!view.nonce.has_value()) return {};
  return fmt::format("the request may have arrived; to continue with the same one: ratchet --nonce {}:{} ...",
                     view.nonce->group, view.nonce->nonce);
}

void KeepSignalsForReporter() {
  const sigset_t kept = Kept();
  pthread_sigmask(SIG_BLOCK, &kept, nullptr);
}

ProgressReporter::ProgressReporter(client::Connection& connection, bool quiet, Millis held)
    : connection_(connection), quiet_(quiet), held_(held), terminal_(isatty(STDERR_FILENO) != 0), thread_([this] {
        Run();
      }) {}

ProgressReporter::~ProgressReporter() {
  stop_ = true;
  thread_.join();
  EndProgress();
}

void ProgressReporter::Run() {
  const SystemClock clock;
  const sigset_t kept = Kept();
  const timespec look{0, kLook.count() * 1'000'000};
  TimePoint next = clock.Now();
  while (!stop_) {
    const int signal = sigtimedwait(&kept, nullptr, &look);
    if (signal > 0) {
      if (const std::string text = ContinueText(connection_.activity().Look()); !text.empty() && !quiet_) {
        std::fprintf(stderr, "\nratchet: interrupted; %s\n", text.c_str());
      }
      std::signal(signal, SIG_DFL);  // and die from it, as a shell expects
      pthread_sigmask(SIG_UNBLOCK, &kept, nullptr);
      std::raise(signal);
      return;
    }
    if (quiet_ || clock.Now() < next) continue;
    const auto view = connection_.activity().Look();
    const Millis patience = view.obstacle.empty() ? std::max(kPatience, held_) : kPatience;
    if (!view.active || view.for_ms < patience) continue;
    next = clock.Now() + kBetween;
    ShowWait(view);
  }
}

void ProgressReporter::ShowProgress(std::uint64_t pid, const pb::GetProcedureResponse& answer) {
  const auto progress = ProgressOf(answer);
  if (!progress.has_value()) return EndProgress();
  const TimePoint now = SystemClock().Now();
  if (shown_pid_ != pid || progress->done < done_at_first_) {
    EndProgress();
    shown_pid_ = pid;
    done_at_first_ = progress->done;
    first_ = now;
  }
  const auto elapsed = std::chrono::duration_cast<Millis>(now - first_);
  std::fprintf(stderr, "\r\033[Kpid %llu: %s", static_cast<unsigned long long>(pid),
               ProgressText(*progress, done_at_first_, elapsed.count()).c_str());
  std::fflush(stderr);
}

void ProgressReporter::EndProgress() {
  if (shown_pid_ == 0) return;
  shown_pid_ = 0;
  std::fputs("\n", stderr);
}

void ProgressReporter::ShowWait(const client::Activity::View& view) {
  std::string text;
  if (view.pid.has_value() && view.obstacle.empty()) {
    client::Admin admin(connection_, kQuestion);
    pb::GetProcedureRequest request;
    request.set_pid(*view.pid);
    const auto answer = admin.Call(methods::kGetProcedure, request);
    if (answer.ok()) text = WaitText(*answer);
    if (answer.ok() && terminal_ && !stop_) ShowProgress(*view.pid, *answer);
  } else {
    text = "still " + (view.attempt.empty() ? std::string("trying") : view.attempt);
    if (!view.obstacle.empty()) text += ": " + view.obstacle;
  }
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  // A line that only counts on is not reported again.
  std::string same = text;
  std::erase_if(same, [](char c) { return c >= '0' && c <= '9'; });
  if (text.empty() || same == shown_ || stop_) return;
  shown_ = std::move(same);
  EndProgress();
  std::fprintf(stderr, "%s\n", TerminalText(text).c_str());
}

}  // namespace ratchet::cli
