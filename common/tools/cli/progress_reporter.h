// Shows a user what the command waits for: after a second on standard error, and again when it changes. On a terminal
// it also shows, each second, the progress of a procedure with many parts. On Ctrl-C it
// prints how to continue the request.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "common/client/activity.h"
#include "common/client/connection.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::cli {

// "pid 105 waits: table t paused by ann: night shift": the obstacle of the procedure, or of the one below it that it
// waits for.
[[nodiscard]] std::string WaitText(const pb::GetProcedureResponse& answer);
// How to continue the request of an interrupted command; empty when it has requested nothing that lasts.
[[nodiscard]] std::string ContinueText(const client::Activity::View& view);

// Call before any other thread is made: SIGINT and SIGTERM are delivered to the ProgressReporter from then on.
void KeepSignalsForReporter();

// One thread next to the command; `quiet`: it only answers signals, which then end the process as usual. `held`: how
// long a master may intentionally hold a request, for example of a command that follows events; no line is shown before
// that.
class ProgressReporter {
 public:
  ProgressReporter(client::Connection& connection, bool quiet, Millis held = Millis{0});
  ~ProgressReporter();
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

 private:
  void Run();
  void ShowWait(const client::Activity::View& view);
  void ShowProgress(std::uint64_t pid, const pb::GetProcedureResponse& answer);
  void EndProgress();

  client::Connection& connection_;
  const bool quiet_;
  const Millis held_;
  std::atomic<bool> stop_{false};
  std::string shown_;
  // On a terminal: shows the progress of the procedure in one line that is overwritten.
  const bool terminal_;
  std::uint64_t shown_pid_ = 0;  // 0: no such line is on the screen
  std::int64_t done_at_first_ = 0;
  TimePoint first_{};
  std::thread thread_;
};

}  // namespace ratchet::cli
