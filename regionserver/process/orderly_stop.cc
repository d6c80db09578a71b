#include "regionserver/process/orderly_stop.h"

#include <algorithm>

#include "common/base/log.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kAskAgain{50};  // the least pause; a heartbeat lists every region

Millis PauseBetweenAsking(std::size_t regions) { return kAskAgain + Millis(static_cast<std::int64_t>(regions / 20)); }

}  // namespace

void OrderlyStop::Answered(const pb::RegionServerReportResponse* answer) {
  // Ignores the answer to a report from before the stop, and the answer of an older master, which lacks the field.
  if (!asked_ || answer == nullptr || !answer->has_may_leave()) return;
  MutexLock lock(mutex_);
  may_leave_ = answer->may_leave();
  changed_.NotifyAll();
}

bool OrderlyStop::AwaitWord(Millis pause) {
  MutexLock lock(mutex_);
  if (!may_leave_) changed_.WaitFor(mutex_, pause);
  return may_leave_;
}

bool OrderlyStop::HandOver(Millis limit, const ExitLatch& exit, const OrderlyStopParts& parts) {
  if (limit.count() == 0) return true;
  const TimePoint begun = clock_.Now();
  const auto since = [this](TimePoint then) { return std::chrono::duration_cast<Millis>(clock_.Now() - then); };
  RATCHET_LOG(kInfo, "Stop: {} regions must be opened elsewhere within {} ms", parts.regions(), limit.count());
  asked_ = true;
  TimePoint master_seen = begun - kMasterless;
  do {
    if (parts.master_is_active()) master_seen = clock_.Now();
    const char* why = nullptr;
    if (const auto overtaken = exit.overtaken()) {
      RATCHET_LOG(kWarn, "Stop: {} regions are left to a crash procedure: {}", parts.regions(), overtaken->why);
      return false;
    }
    if (since(master_seen) >= kMasterless) why = "no master is active";
    if (since(begun) >= limit) why = "out of time (--drain-timeout-ms)";
    if (why != nullptr) {
      RATCHET_LOG(kWarn, "Stop: {} regions are left to a crash procedure: {}", parts.regions(), why);
      return true;
    }
    parts.report();
  } while (!AwaitWord(std::min(PauseBetweenAsking(parts.regions()), std::max(Millis{1}, limit - since(begun)))));
  RATCHET_LOG(kInfo, "Stop: the master allows the end after {} ms, with {} regions", since(begun).count(),
              parts.regions());
  return true;
}

}  // namespace ratchet::regionserver
