// Reads and writes the values of settings: numbers, durations and sizes with their units. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet {

// An error (kInvalidArgument) names the expected form, but not the setting.
[[nodiscard]] Result<std::int64_t> ParseInt(std::string_view text);
[[nodiscard]] Result<double> ParseDouble(std::string_view text);
[[nodiscard]] Result<bool> ParseBool(std::string_view text);
[[nodiscard]] Result<Millis> ParseMillis(std::string_view text);        // "1500", "1500ms", "2s", "5min", "1h"
[[nodiscard]] Result<std::uint64_t> ParseBytes(std::string_view text);  // "512", "64KiB", "128MiB", "2GiB"

// Text of a config file: without white space around it; parts of a list joined with `between`; the parts of "a, b,c".
[[nodiscard]] std::string Trim(const std::string& text);
[[nodiscard]] std::string Join(const std::vector<std::string>& parts, std::string_view between);
[[nodiscard]] std::vector<std::string> SplitList(const std::string& text);

[[nodiscard]] std::string FormatBytes(std::uint64_t bytes);  // "64MiB" when that is exact, else the plain number

}  // namespace ratchet
