// All code reads time through these interfaces, so that it can run under a simulated clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace ratchet {

using Millis = std::chrono::milliseconds;
// Monotonic, of one process; never stored, S13 (durations and derived counts).
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint Now() const = 0;
  // Milliseconds since 1970, for humans and for cell timestamps; may jump and never decides about ownership.
  [[nodiscard]] virtual std::int64_t WallMillis() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override;
  [[nodiscard]] std::int64_t WallMillis() const override;
};

// Runs callbacks later. Thread-safe. Callbacks run on the timer's own thread (or in the simulation's step), must not
// block, and may schedule or cancel timers.
class Timers {
 public:
  using Handle = std::uint64_t;  // 0: no timer
  virtual ~Timers() = default;
  virtual Handle After(Millis delay, std::function<void()> callback) = 0;
  // After Cancel returns true the callback does not run. Cancel returns false if the callback has run, is running, or
  // never existed.
  virtual bool Cancel(Handle handle) = 0;
};

// Timers on one background thread; the destructor waits for a running callback and drops the rest.
[[nodiscard]] std::unique_ptr<Timers> MakeThreadTimers();

}  // namespace ratchet
