// The times for which the master waited for answers of one server during the last ten minutes, and the wait from which
// on the server counts as silent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace ratchet::master {

// Pure; times only rise. About 500 bytes.
class WaitBook {
 public:
  static constexpr Millis kWindow{600'000};
  static constexpr Millis kFloor{400};
  static constexpr int kFactor = 4;
  // With fewer waits the longest ones are not known.
  static constexpr std::size_t kLeastWaits = 100;

  void Add(Millis wait, TimePoint now);
  // Returns max(kFloor, kFactor * p99.9 of the waits). Returns nullopt if there are too few of them, or if p99.9 is
  // longer than all classes: then no wait means anything.
  [[nodiscard]] std::optional<Millis> Limit(TimePoint now) const;

 private:
  static constexpr std::size_t kClasses = 25;  // up to 100 ms, then each longer by a quarter of an octave; the rest
  static constexpr std::size_t kSlices = 10;
  struct Slice {
    std::int64_t number = -1;  // the part of the time line that it counts
    std::array<std::uint16_t, kClasses> waits{};
  };
  [[nodiscard]] static std::int64_t SliceAt(TimePoint now);

  std::array<Slice, kSlices> slices_{};
};

}  // namespace ratchet::master
