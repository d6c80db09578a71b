// HoldMeter measures the longest time for which the executor's lock was held, if a setting asks for it.
//
// Owner: Core. Entered and Leaves are called with the lock held; longest() by any thread. Without `on` it reads no
// clock, because many locks are held for less time than that takes.
#pragma once

#include <atomic>
#include <chrono>

namespace ratchet::procedure {

class HoldMeter {
 public:
  using Clock = std::chrono::steady_clock;
  explicit HoldMeter(bool on) : on_(on) {}

  void Entered() {
    if (on_) [[unlikely]]
      began_ = Clock::now();
  }
  void Leaves() {
    if (on_) [[unlikely]]
      Add(Clock::now() - began_);
  }
  // Zero if it does not measure.
  [[nodiscard]] Clock::duration longest() const { return longest_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool on() const { return on_; }

 private:
  void Add(Clock::duration held) {
    if (held > longest()) longest_.store(held, std::memory_order_relaxed);  // only the holder of the lock writes
  }

  const bool on_;
  Clock::time_point began_{};
  std::atomic<Clock::duration> longest_{Clock::duration::zero()};
};

}  // namespace ratchet::procedure
