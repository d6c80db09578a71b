// What can be done to a link between two processes, and what shows that it was done. Plain values.
//
// A link has a direction of connecting: `from` connects to `to`. Forward is what `from` sends, back is what it
// receives.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"

namespace ratchet::chaos {

struct LinkName {
  std::string from;  // "client" for what is not a process of the cluster
  std::string to;
  auto operator<=>(const LinkName&) const = default;
  [[nodiscard]] std::string ToString() const { return from + " -> " + to; }
};

struct LinkMode {
  Millis delay{0};   // of each piece of data, both ways; the order is kept
  Millis jitter{0};  // up to so much more, at random
  // A blackhole, as a partition is for TCP: nothing arrives while it lasts, all of it arrives afterwards.
  bool hold_forward = false;
  bool hold_back = false;
  // The far end is gone without a word: what is sent vanishes, nothing comes back; ends with a reset.
  bool half_open = false;
  std::uint64_t bytes_per_second = 0;  // slow drip, each way; 0: no limit
  std::uint32_t lose_one_in = 0;       // the connection is lost at one piece of data in so many; 0: never
  bool operator==(const LinkMode&) const = default;

  [[nodiscard]] static LinkMode Blackhole() { return {.hold_forward = true, .hold_back = true}; }
};

struct LinkCounters {
  std::uint64_t opened = 0;  // connections
  std::uint64_t open_now = 0;
  std::uint64_t passed = 0;    // bytes
  std::uint64_t delayed = 0;   // bytes that waited for a delay or a drip
  std::uint64_t held = 0;      // bytes that arrived at a blackhole
  std::uint64_t vanished = 0;  // bytes that were lost for good
  std::uint64_t cut = 0;       // connections that were reset or lost

  // What only a fault causes.
  [[nodiscard]] std::uint64_t Disturbed() const { return delayed + held + vanished + cut; }
};

}  // namespace ratchet::chaos
