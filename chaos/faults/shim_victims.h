// Shared code of the faults that use the preloaded library (chaos/shim). Runs on the driver's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chaos/faults/victims.h"

namespace ratchet::chaos {

// Requirements of such faults, and why they are not met; nullopt when they are.
inline constexpr std::string_view kNeedsShims = "a cluster of its own without sanitizers (a preloaded library)";
[[nodiscard]] std::optional<std::string> WhyNoShims(Target& target);

// Cancels all orders, and restarts processes that have ended.
[[nodiscard]] Status HealShims(Target& target, const Victims& victims);

}  // namespace ratchet::chaos
