// Checks of user input, before any request to a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::cli {

// The largest number that fits everywhere: pids, limits and times travel as 63 bits.
inline constexpr std::uint64_t kLargest = INT64_MAX;

// Digits only: no sign, no blank, no fraction, no suffix. kInvalidArgument names the range and the text.
[[nodiscard]] Result<std::uint64_t> ParseWhole(std::string_view text, std::uint64_t low, std::uint64_t high);

}  // namespace ratchet::cli
