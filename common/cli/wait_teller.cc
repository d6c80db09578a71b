#include "common/cli/wait_teller.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <fmt/core.h>
#include <unistd.h>

#include "common/cli/bytes_text.h"
#include "common/cli/progress_text.h"
#include "common/client/admin.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::cli {
namespace {

constexpr Millis kPatience{1000};      // a user wonders
constexpr Millis kLook{100};           // how often it is looked
constexpr Millis kQuestion{1000};      // to the master, about the procedure
constexpr Millis kBetween{1000};       // two lines
constexpr std::size_t kLongest = 400;  // bytes of a line

sigset_t Kept() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

// What holds this one up by itself; empty: nothing, or only others below it.
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
  // Of a tree the one that stands in the way: the last unfinished one, below all others.
  for (int i = answer.tree_size(); text.empty() && i-- > 0;) {
    const pb::ProcedureInfo& member = answer.tree(i);
    if (member.finished() || member.pid() == procedure.pid()) continue;
    const std::string below = Obstacle(member);
    if (!below.empty()) text = fmt::format("pid {} {}: {}", member.pid(), member.type(), below);
  }
  if (text.empty()) {
    return fmt::format("pid {} goes on: {}{}", procedure.pid(), procedure.type(),
                       procedure.step().empty() ? "" : ", step " + procedure.step());
  }
  return fmt::format("pid {} waits: {}", procedure.pid(), text);
}

std::string GoOnText(const client::Activity::View& view) {
  if (view.pid.has_value()) {
    return fmt::format("pid {} goes on in the cluster; to wait for its end: ratchet wait {}", *view.pid, *view.pid);
  }
  if (!view.nonce.has_value()) return {};
  return fmt::format("the request may have arrived; to go on with the same one: ratchet --nonce {}:{} ...",
                     view.nonce->group, view.nonce->nonce);
}

void KeepSignalsForTeller() {
  const sigset_t kept = Kept();
  pthread_sigmask(SIG_BLOCK, &kept, nullptr);
}

WaitTeller::WaitTeller(client::Connection& connection, bool quiet, Millis held)
    : connection_(connection), quiet_(quiet), held_(held), terminal_(isatty(STDERR_FILENO) != 0), thread_([this] {
        Run();
      }) {}

WaitTeller::~WaitTeller() {
  stop_ = true;
  thread_.join();
  EndProgress();
}

void WaitTeller::Run() {
  const SystemClock clock;
  const sigset_t kept = Kept();
  const timespec look{0, kLook.count() * 1'000'000};
  TimePoint next = clock.Now();
  while (!stop_) {
    const int signal = sigtimedwait(&kept, nullptr, &look);
    if (signal > 0) {
      if (const std::string text = GoOnText(connection_.activity().Look()); !text.empty() && !quiet_) {
        std::fprintf(stderr, "\nratchet: interrupted; %s\n", text.c_str());
      }
      std::signal(signal, SIG_DFL);  // and die of it, as a shell expects
      pthread_sigmask(SIG_UNBLOCK, &kept, nullptr);
      std::raise(signal);
      return;
    }
    if (quiet_ || clock.Now() < next) continue;
    const auto view = connection_.activity().Look();
    const Millis patience = view.obstacle.empty() ? std::max(kPatience, held_) : kPatience;
    if (!view.active || view.for_ms < patience) continue;
    next = clock.Now() + kBetween;
    Tell(view);
  }
}

void WaitTeller::ShowProgress(std::uint64_t pid, const pb::GetProcedureResponse& answer) {
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

void WaitTeller::EndProgress() {
  if (shown_pid_ == 0) return;
  shown_pid_ = 0;
  std::fputs("\n", stderr);
}

void WaitTeller::Tell(const client::Activity::View& view) {
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
  // What only counts on is not told again.
  std::string same = text;
  std::erase_if(same, [](char c) { return c >= '0' && c <= '9'; });
  if (text.empty() || same == told_ || stop_) return;
  told_ = std::move(same);
  EndProgress();
  std::fprintf(stderr, "%s\n", TerminalText(text).c_str());
}

}  // namespace ratchet::cli
