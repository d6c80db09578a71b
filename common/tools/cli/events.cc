// `ratchet events`: past and current events of procedures.
#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "common/client/retry_loop.h"
#include "common/model/proto/operator.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

constexpr Millis kFollowPeriod{200};

// Prints a notice for the user of a followed stream; the output for programs stays clean.
void PrintNote(const Session& session, const std::string& line) {
  if (session.printer.into() != nullptr) return;
  std::fprintf(session.printer.json() ? stderr : stdout, "%s\n", line.c_str());
  std::fflush(stdout);
}

// The filter that was requested, applied to the events that the master keeps, until they have been read; afterwards
// everything passes.
class Window {
 public:
  Window(const EventFlags& flags, std::int64_t since_ms) : root_(flags.root), since_ms_(since_ms) {
    if (flags.newest.has_value())
      newest_ = *flags.newest;
    else if (flags.follow && flags.since.empty())
      newest_ = kNewestOfFollower;
  }
  void Take(const pb::ProcedureEvent& event, std::vector<std::vector<Field>>& rows) {
    if (root_ != 0 && event.root() != root_ && event.pid() != root_) return;
    if (event.at_wall_ms() < since_ms_) return;
    rows.push_back({Number(event.sequence()), TimeText(event.at_wall_ms()), event.kind(),
                    event.has_pid() ? Number(event.pid()) : Field(), event.type(), event.step(), event.detail()});
    if (rows.size() > newest_) rows.erase(rows.begin());
  }
  // The past is read: all later events are shown.
  void Open() { newest_ = kUnbounded; }
  [[nodiscard]] bool bounded() const { return newest_ != kUnbounded; }

 private:
  static constexpr std::uint64_t kNewestOfFollower = 10;
  static constexpr std::uint64_t kUnbounded = UINT64_MAX;
  const std::uint64_t root_;
  const std::int64_t since_ms_;
  std::uint64_t newest_ = kUnbounded;
};

}  // namespace

Result<int> ShowEvents(Session& session, const EventFlags& flags) {
  RATCHET_ASSIGN(const auto since, (flags.since.empty() ? Result<std::int64_t>(INT64_MIN)
                                                        : ParseSince(flags.since, SystemClock().WallMillis())));
  client::StopSignal pacer;
  // The master holds the request until something happens, or until shortly before the client's time-out.
  const Millis held = std::min(session.timeout, session.connection.options().rpc_timeout) / 2;
  pb::ListEventsRequest request;
  Window window(flags, since);
  std::vector<std::vector<Field>> rows;
  bool header = true;
  while (true) {
    const auto asked = std::chrono::steady_clock::now();
    RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kListEvents, request));
    if (request.has_epoch() && request.epoch() != answer.epoch()) {
      PrintNote(session, fmt::format("-- another master: epoch {}, its events from the beginning", answer.epoch()));
    }
    if (request.has_epoch() && answer.lost() > 0) {
      PrintNote(session, fmt::format("-- {} events were lost: this reader is too slow", answer.lost()));
    }
    for (const auto& event : answer.event()) window.Take(event, rows);
    const bool more = answer.event_size() > 0 && answer.last() > answer.event(answer.event_size() - 1).sequence();
    if (!more || !window.bounded()) {
      if ((!flags.follow && !more) || !rows.empty()) {
        session.printer.Table({"NO", "TIME", "EVENT", "PID", "TYPE", "STEP", "DETAIL"}, rows,
                              std::exchange(header, false));
        std::fflush(stdout);  // a reader of a pipe follows, too; Ctrl-C loses nothing
      }
      rows.clear();
    }
    if (!more) window.Open();
    request.set_epoch(answer.epoch());
    request.set_after(answer.event_size() > 0 ? answer.event(answer.event_size() - 1).sequence() : answer.last());
    if (more) continue;
    if (!flags.follow || std::ferror(stdout) != 0) return kExitOk;
    // A master that already holds too many requests answers this one at once.
    const bool at_once = answer.event_size() == 0 && std::chrono::steady_clock::now() - asked < held / 2;
    if (at_once && request.has_wait_ms() && !pacer.Sleep(kFollowPeriod)) return kExitOk;
    request.set_wait_ms(static_cast<std::uint32_t>(held.count()));
  }
}

namespace {

struct EventVerbFlags : EventFlags {
  void Bind(CLI::App& verb) {
    AddPid(verb, root, "--pid")->description("Only of this tree (pid of its root)");
    verb.add_flag("--follow", follow, "Continue to show new events");
    TakeWhole(verb, "-n,--newest", newest, kind::kNumber, 0, kLargest,
              "Begin with this number of the newest events (default: all that the master keeps; with "
              "--follow 10)");
    Take(verb, "--since", since, "WHEN", "Begin this long ago (90s, 5m, 2h), or at a time (2026-01-31T12:30:00, UTC)");
  }
};

}  // namespace

Verbs EventVerbs() {
  return {Verb<EventVerbFlags>("events", "Show the events of procedures",
                               {"events", "events --follow -n 0", "events --since 5m", "events --pid 17"}, ShowEvents)};
}

}  // namespace ratchet::cli
