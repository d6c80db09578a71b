#include "common/rpc/await_listening.h"

#include <algorithm>

#include "common/base/exit_codes.h"
#include "common/base/log.h"

namespace ratchet::rpc {
namespace {

constexpr Millis kTryAgain{1'000};

}  // namespace

Status AwaitListening(RpcServer& server, Millis within, const Clock& clock, ExitLatch& exit) {
  const TimePoint deadline = clock.Now() + within;
  for (;;) {
    Status started = server.Start();
    if (started.ok() || started.error().code() != Code::kUnavailable) return started;
    const auto left = std::chrono::duration_cast<Millis>(deadline - clock.Now());
    if (left.count() <= 0) return started;
    RATCHET_LOG(kWarn, "{}; trying again", started.error().message());
    if (exit.WaitFor(std::min(left, kTryAgain))) return Error(Code::kAborted, "stopped during the start");
  }
}

int ExitCodeWithoutAddress(const Error& error) {
  switch (error.code()) {
    case Code::kAborted: return exit_code::kOk;
    case Code::kInvalidArgument: return exit_code::kUsage;
    case Code::kUnavailable:
    case Code::kTimeout: return exit_code::kNoAddress;
    default: return exit_code::kPortTaken;
  }
}

}  // namespace ratchet::rpc
