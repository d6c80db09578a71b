// Parses the time from which events are shown.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::cli {

// "90s", "5m", "2h", "1d" before `now_ms`, or a time in UTC: "2026-01-31T12:30:00", "2026-01-31 12:30", with or without
// a Z at the end. Returns ms since 1970. kInvalidArgument names the expected form.
[[nodiscard]] Result<std::int64_t> ParseSince(std::string_view text, std::int64_t now_ms);

}  // namespace ratchet::cli
