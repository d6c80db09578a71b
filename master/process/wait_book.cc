#include "master/process/wait_book.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace ratchet::master {
namespace {

constexpr Millis kFirstClass = WaitBook::kFloor / WaitBook::kFactor;
constexpr double kClassesPerOctave = 4;

// The longest wait of the class.
Millis EndOf(std::size_t index) {
  return Millis(std::lround(static_cast<double>(kFirstClass.count()) *
                            std::exp2(static_cast<double>(index) / kClassesPerOctave)));
}

}  // namespace

std::int64_t WaitBook::SliceAt(TimePoint now) {
  return std::chrono::duration_cast<Millis>(now.time_since_epoch()) / (kWindow / static_cast<int>(kSlices));
}

void WaitBook::Add(Millis wait, TimePoint now) {
  const std::int64_t number = SliceAt(now);
  Slice& slice = slices_[static_cast<std::size_t>(number) % kSlices];
  if (slice.number != number) slice = Slice{number, {}};
  std::size_t index = 0;
  while (index + 1 < kClasses && wait > EndOf(index)) ++index;
  std::uint16_t& count = slice.waits[index];
  if (count < std::numeric_limits<std::uint16_t>::max()) ++count;
}

std::optional<Millis> WaitBook::Limit(TimePoint now) const {
  std::array<std::size_t, kClasses> waits{};
  std::size_t all = 0;
  for (const Slice& slice : slices_) {
    if (slice.number < 0 || slice.number + static_cast<std::int64_t>(kSlices) <= SliceAt(now)) continue;
    for (std::size_t i = 0; i < kClasses; ++i) {
      waits[i] += slice.waits[i];
      all += slice.waits[i];
    }
  }
  if (all < kLeastWaits) return std::nullopt;
  // At most one in a thousand is longer than the wait that is looked for.
  std::size_t longer = all / 1'000;
  std::size_t index = kClasses - 1;
  while (index > 0 && waits[index] <= longer) longer -= waits[index--];
  if (index == kClasses - 1) return std::nullopt;
  return std::max(kFloor, kFactor * EndOf(index));
}

}  // namespace ratchet::master
