// What the faults that order the preloaded library (chaos/shim) have in common. The driver's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chaos/faults/victims.h"

namespace ratchet::chaos {

// What such faults need, and why they cannot be had; nothing when they can.
inline constexpr std::string_view kNeedsShims = "a cluster of its own without sanitizers (a preloaded library)";
[[nodiscard]] std::optional<std::string> WhyNoShims(Target& target);

// All of them behave again; those that have ended are started then.
[[nodiscard]] Status HealShims(Target& target, const Victims& victims);

}  // namespace ratchet::chaos
