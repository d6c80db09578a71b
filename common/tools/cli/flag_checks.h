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

// "90s", "5m", "2h", "1d" before `now_ms`, or a time in UTC: "2026-01-31T12:30:00", "2026-01-31 12:30", with or without
// a Z at the end. Returns ms since 1970. kInvalidArgument names the expected form.
[[nodiscard]] Result<std::int64_t> ParseSince(std::string_view text, std::int64_t now_ms);

}  // namespace ratchet::cli
