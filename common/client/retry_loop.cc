#include "common/client/retry_loop.h"

#include <algorithm>

#include "common/rpc/exceptions.h"

namespace ratchet::client {
namespace {

constexpr BackoffPolicy kPauses{Millis{10}, Millis{500}, 1.7, 0.2};
constexpr BackoffPolicy kPolls{Millis{1}, Millis{100}, 1.15, 0.2};

}  // namespace

void StopSignal::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  wake_.NotifyAll();
}

bool StopSignal::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

bool StopSignal::Sleep(Millis duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  MutexLock lock(mutex_);
  while (!stopped_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return true;
    wake_.WaitFor(mutex_, until - now);
  }
  return false;
}

RetryLoop::RetryLoop(StopSignal& stop, const Clock& clock, Millis timeout, std::uint64_t seed, Activity* activity)
    : stop_(stop),
      clock_(clock),
      timeout_(timeout),
      deadline_(clock.Now() + timeout),
      least_attempt_(std::min(timeout / 10, Millis{1000})),
      prng_(seed),
      mark_(activity) {}

Millis RetryLoop::Remaining() const {
  return std::max(Millis{1}, std::chrono::duration_cast<Millis>(deadline_ - clock_.Now()));
}

Millis RetryLoop::AttemptTimeout(Millis rpc_timeout) const { return std::min(rpc_timeout, Remaining()); }

Status RetryLoop::Pause(const Error& error, std::string_view what, Effect effect) {
  ++attempts_;
  outcome_unknown_ = outcome_unknown_ || (effect == Effect::kChanges && rpc::OutcomeUnknown(error));
  mark_.Failed(error.message());
  const Millis pause = BackoffDelay(kPauses, attempts_, prng_);
  if (stop_.stopped()) return Error(Code::kAborted, fmt::format("{}: the connection was closed", what));
  if (clock_.Now() + pause + least_attempt_ >= deadline_) {
    return GaveUp(error, what, outcome_unknown_);
  }
  if (!stop_.Sleep(pause)) return Error(Code::kAborted, fmt::format("{}: the connection was closed", what));
  return Ok();
}

Error RetryLoop::GaveUp(const Error& last, std::string_view what, bool outcome_unknown) const {
  return {Code::kTimeout,
          fmt::format("{}: gave up after {} ms and {} attempt{}{}: {}", what, timeout_.count(), attempts_,
                      attempts_ == 1 ? "" : "s", outcome_unknown ? " (it may or may not have been executed)" : "",
                      last.message()),
          outcome_unknown ? std::string(rpc::kCallTimeout) : std::string()};
}

Status RetryLoop::Poll(std::string_view what) {
  const Millis pause = BackoffDelay(kPolls, ++polls_, prng_);
  if (clock_.Now() + pause + least_attempt_ >= deadline_) {
    return Error(Code::kTimeout, fmt::format("{}: not finished after {} ms; it continues", what, timeout_.count()),
                 std::string(rpc::kCallTimeout));
  }
  if (!stop_.Sleep(pause)) return Error(Code::kAborted, fmt::format("{}: the connection was closed", what));
  return Ok();
}

Error Refused(const Error& error, bool outcome_unknown) {
  if (!outcome_unknown) return error;
  return {error.code(), error.message() + " (an earlier attempt may or may not have been executed)",
          error.remote_class()};
}

}  // namespace ratchet::client
