// Durations as counts in fixed steps: cheap to record, and never more than a few hundred bytes.
//
// Thread-safe, without locks; the parts of a snapshot may differ by durations that are recorded meanwhile.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/clock.h"

namespace ratchet {

// Upper ends of the steps in microseconds; the last count is for longer durations.
inline constexpr std::array<std::uint64_t, 17> kLatencySteps = {
    50,     100,     250,     500,     1'000,     2'500,     5'000,      10'000,    25'000,
    50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 10'000'000, 60'000'000};

struct LatencySnapshot {
  std::array<std::uint64_t, kLatencySteps.size() + 1> counts{};  // of each step alone
  std::uint64_t sum_us = 0;
};

class Latency {
 public:
  void Note(std::uint64_t us) {
    const auto step = std::lower_bound(kLatencySteps.begin(), kLatencySteps.end(), us) - kLatencySteps.begin();
    counts_[static_cast<std::size_t>(step)].fetch_add(1, std::memory_order_relaxed);
    sum_us_.fetch_add(us, std::memory_order_relaxed);
  }
  void Note(TimePoint::duration took) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    Note(static_cast<std::uint64_t>(std::max<std::int64_t>(0, us)));
  }
  [[nodiscard]] LatencySnapshot Look() const {
    LatencySnapshot snapshot;
    for (std::size_t i = 0; i < counts_.size(); ++i) snapshot.counts[i] = counts_[i].load(std::memory_order_relaxed);
    snapshot.sum_us = sum_us_.load(std::memory_order_relaxed);
    return snapshot;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kLatencySteps.size() + 1> counts_{};
  std::atomic<std::uint64_t> sum_us_{0};
};

}  // namespace ratchet
