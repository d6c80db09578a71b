// The loop around every request: attempts with growing pauses until a deadline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/base/result.h"
#include "common/client/activity.h"
#include "common/rpc/method.h"

namespace ratchet::client {

// Wakes sleeping retries when the connection is closed. Thread-safe.
class StopSignal {
 public:
  void Stop();
  [[nodiscard]] bool stopped() const;
  // Sleeps; false when stopped meanwhile.
  bool Sleep(Millis duration);

 private:
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

using rpc::Effect;

// Lives for one operation, on one thread.
class RetryLoop {
 public:
  // `activity`: records the attempts and their failures; may be null.
  RetryLoop(StopSignal& stop, const Clock& clock, Millis timeout, std::uint64_t seed, Activity* activity = nullptr);

  // The time left; at least 1 ms.
  [[nodiscard]] Millis Remaining() const;
  // The time-out of one attempt: `rpc_timeout`, or less near the end.
  [[nodiscard]] Millis AttemptTimeout(Millis rpc_timeout) const;
  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }
  // An earlier attempt may have been executed.
  [[nodiscard]] bool outcome_unknown() const { return outcome_unknown_; }

  // Records what the next attempt does.
  void Attempt(std::string_view what) { mark_.Attempt(what); }
  // Remembers why the attempt failed and pauses. Ok: try again. An error: give up, and return it; `what` names the
  // operation.
  [[nodiscard]] Status Pause(const Error& error, std::string_view what, Effect effect = Effect::kChanges);
  // The error of an operation that is given up after `last`: its class shows whether an attempt may have been executed.
  [[nodiscard]] Error GaveUp(const Error& last, std::string_view what, bool outcome_unknown) const;
  // For an answer that is not available yet, without a failure: the pauses start short, so that a quick end is noticed
  // at once.
  [[nodiscard]] Status Poll(std::string_view what);

 private:
  StopSignal& stop_;
  const Clock& clock_;
  const Millis timeout_;
  const TimePoint deadline_;
  const Millis least_attempt_;  // no attempt begins with less time left: if it were cut short, a known outcome would
                                // become unknown
  Prng prng_;
  ActivityMark mark_;
  std::uint32_t attempts_ = 0;
  std::uint32_t polls_ = 0;
  bool outcome_unknown_ = false;  // an attempt may have been executed
};

// A refusal is final, but concerns the last attempt only: the error states if an earlier one may have been executed.
[[nodiscard]] Error Refused(const Error& error, bool outcome_unknown);

}  // namespace ratchet::client
