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
  // `activity`: hears what is tried and why it fails; may be null.
  RetryLoop(StopSignal& stop, const Clock& clock, Millis timeout, std::uint64_t seed, Activity* activity = nullptr);

  // What is left; at least 1 ms.
  [[nodiscard]] Millis Remaining() const;
  // The time-out of one attempt: `rpc_timeout`, or less near the end.
  [[nodiscard]] Millis AttemptTimeout(Millis rpc_timeout) const;
  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }
  // An earlier attempt may have been executed.
  [[nodiscard]] bool outcome_unknown() const { return outcome_unknown_; }

  // Says what the next attempt does.
  void Attempt(std::string_view what) { mark_.Attempt(what); }
  // Remembers why the attempt failed and pauses. Ok: try again. An error: give up, with it; `what` names the operation.
  [[nodiscard]] Status Pause(const Error& error, std::string_view what, Effect effect = Effect::kChanges);
  // How an operation ends that is given up after `last`: its class says whether an attempt may have been executed.
  [[nodiscard]] Error GaveUp(const Error& last, std::string_view what, bool outcome_unknown) const;
  // Nothing failed, the answer is only not there yet: pauses that start short, so that a quick end is seen at once.
  [[nodiscard]] Status Poll(std::string_view what);

 private:
  StopSignal& stop_;
  const Clock& clock_;
  const Millis timeout_;
  const TimePoint deadline_;
  const Millis
      least_attempt_;  // with less left no attempt begins: cut short, it would only make a known outcome unknown
  Prng prng_;
  ActivityMark mark_;
  std::uint32_t attempts_ = 0;
  std::uint32_t polls_ = 0;
  bool outcome_unknown_ = false;  // an attempt may have been executed
};

// A refusal is final, but it speaks of the last attempt only: says so when an earlier one may have been executed.
[[nodiscard]] Error Refused(const Error& error, bool outcome_unknown);

}  // namespace ratchet::client
