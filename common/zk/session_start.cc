#include "common/zk/session_start.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/exit_codes.h"
#include "common/base/log.h"

namespace ratchet::zk {
namespace {

constexpr Millis kSlice{200};
constexpr Millis kBetweenWords{1'000};

Error Stopped() { return Error(Code::kAborted, "stopped during the start"); }

}  // namespace

SessionStart::SessionStart(SessionOptions options, Millis within, const Clock& clock, ExitLatch& exit)
    : options_(std::move(options)), within_(within), clock_(clock), exit_(exit), deadline_(clock.Now() + within) {}

Millis SessionStart::Left() const {
  return std::max(Millis{0}, std::chrono::duration_cast<Millis>(deadline_ - clock_.Now()));
}

Result<std::unique_ptr<ZkSession>> SessionStart::Open() {
  auto opened = ZkSession::Open(options_);
  while (!opened.ok() && opened.error().code() == Code::kUnavailable && Left().count() > 0) {
    RATCHET_LOG(kWarn, "{}; trying again", opened.error().message());
    if (exit_.WaitFor(std::min(Left(), kBetweenWords))) return Stopped();
    opened = ZkSession::Open(options_);
  }
  return opened;
}

Status SessionStart::AwaitConnected(ZkSession& session) {
  TimePoint next_word = clock_.Now() + kBetweenWords;
  while (!session.WaitConnected(std::max(Millis{1}, std::min(Left(), kSlice))).ok()) {
    if (exit_.requested().has_value()) return Stopped();
    if (session.state() == SessionState::kExpired) {
      return Error(Code::kFenced, "the ZooKeeper session expired during the start");
    }
    if (Left().count() == 0) {
      return Error(Code::kTimeout, fmt::format("no session with ZooKeeper at {} within {} ms (--zk-connect-timeout-ms)",
                                               options_.servers, within_.count()));
    }
    if (const TimePoint now = clock_.Now(); now >= next_word) {
      next_word = now + kBetweenWords;
      RATCHET_LOG(kWarn, "ZooKeeper at {} does not answer, trying for another {} ms", options_.servers, Left().count());
    }
  }
  return Ok();
}

int ExitCodeWithoutSession(const Error& error) {
  switch (error.code()) {
    case Code::kAborted: return exit_code::kOk;
    case Code::kFenced: return exit_code::kSessionExpired;
    case Code::kInvalidArgument: return exit_code::kUsage;
    default: return exit_code::kZooKeeperUnreachable;
  }
}

}  // namespace ratchet::zk
