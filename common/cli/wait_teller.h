// Tells a user what the command waits for: after a second on standard error, and again when it is something else; on a
// terminal also how far a procedure of many parts is, each second. On
// Ctrl-C it says how to go on with what was asked for.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "common/client/activity.h"
#include "common/client/connection.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::cli {

// "pid 105 waits: table t paused by ann: night shift": what the procedure, or what it waits for below it, is held
// up by.
[[nodiscard]] std::string WaitText(const pb::GetProcedureResponse& answer);
// How to go on with what an interrupted command has asked for; empty when it has asked for nothing that lasts.
[[nodiscard]] std::string GoOnText(const client::Activity::View& view);

// Before any other thread is made: SIGINT and SIGTERM come to the teller from then on.
void KeepSignalsForTeller();

// One thread beside the command; `quiet`: it only answers signals, which then end the process as they always do.
// `held`: for how long a master may keep a question on purpose (a follower's); nothing is told of it before.
class WaitTeller {
 public:
  WaitTeller(client::Connection& connection, bool quiet, Millis held = Millis{0});
  ~WaitTeller();
  WaitTeller(const WaitTeller&) = delete;
  WaitTeller& operator=(const WaitTeller&) = delete;

 private:
  void Run();
  void Tell(const client::Activity::View& view);
  void ShowProgress(std::uint64_t pid, const pb::GetProcedureResponse& answer);
  void EndProgress();

  client::Connection& connection_;
  const bool quiet_;
  const Millis held_;
  std::atomic<bool> stop_{false};
  std::string told_;
  // On a terminal: how far the procedure is, in one line that is written over.
  const bool terminal_;
  std::uint64_t shown_pid_ = 0;  // 0: no such line stands there
  std::int64_t done_at_first_ = 0;
  TimePoint first_{};
  std::thread thread_;
};

}  // namespace ratchet::cli
