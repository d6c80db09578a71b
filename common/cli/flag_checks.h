// Checks of what a user types, before anything is asked of a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::cli {

// The largest number that fits everywhere: pids, limits and times travel as 63 bits.
inline constexpr std::uint64_t kLargest = INT64_MAX;

// Digits only: no sign, no blank, no fraction, nothing behind. kInvalidArgument names the range and what was found.
[[nodiscard]] Result<std::uint64_t> ParseWhole(std::string_view text, std::uint64_t low, std::uint64_t high);

}  // namespace ratchet::cli
