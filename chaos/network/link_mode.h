// Modes of a link between two processes, and the counters that prove their effect. Plain values.
//
// A link has the direction of its connections: `from` connects to `to`. Forward is the data that `from` sends, back is
// the data that it receives.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"

namespace ratchet::chaos {

struct LinkName {
  std::string from;  // "client" for processes outside the cluster
  std::string to;
  auto operator<=>(const LinkName&) const = default;
  [[nodiscard]] std::string ToString() const { return from + " -> " + to; }
};

struct LinkMode {
  Millis delay{0};   // of each piece of data, both ways; keeps the order
  Millis jitter{0};  // up to this much more, at random
  // A blackhole, like a partition for TCP: no data arrives while it lasts, and all of it arrives afterwards.
  bool hold_forward = false;
  bool hold_back = false;
  // The far end disappears silently: sent data is lost, and no data returns; ends with a reset.
  bool half_open = false;
  std::uint64_t bytes_per_second = 0;  // slow drip, each way; 0: no limit
  std::uint32_t lose_one_in = 0;       // the connection is lost at one piece of data in this number; 0: never
  bool operator==(const LinkMode&) const = default;

  [[nodiscard]] static LinkMode Blackhole() { return {.hold_forward = true, .hold_back = true}; }
};

struct LinkCounters {
  std::uint64_t opened = 0;  // connections
  std::uint64_t open_now = 0;
  std::uint64_t passed = 0;    // bytes passed
  std::uint64_t delayed = 0;   // bytes that waited for a delay or a drip
  std::uint64_t held = 0;      // bytes that arrived at a blackhole
  std::uint64_t vanished = 0;  // bytes that were lost permanently
  std::uint64_t cut = 0;       // connections that were reset or lost

  // Sum of the effects that only a fault causes.
  [[nodiscard]] std::uint64_t Disturbed() const { return delayed + held + vanished + cut; }
};

}  // namespace ratchet::chaos
