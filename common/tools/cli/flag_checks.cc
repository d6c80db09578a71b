#include "common/tools/cli/flag_checks.h"

#include <charconv>
#include <ctime>

#include "common/tools/cli/bytes_text.h"

namespace ratchet::cli {
namespace {

std::int64_t MillisOf(char unit) {
  switch (unit) {
    case 's': return 1000;
    case 'm': return 60'000;
    case 'h': return 3'600'000;
    case 'd': return 86'400'000;
    default: return 0;
  }
}

}  // namespace

Result<std::uint64_t> ParseWhole(std::string_view text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end || number < low || number > high) {
    return Error(Code::kInvalidArgument,
                 high == kLargest ? fmt::format("'{}' must be an integer >= {}", ToText(text), low)
                                  : fmt::format("'{}' must be an integer from {} to {}", ToText(text), low, high));
  }
  return number;
}

Result<std::int64_t> ParseSince(std::string_view text, std::int64_t now_ms) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  if (!text.empty()) {
    const std::int64_t unit = MillisOf(text.back());
    const auto number = ParseWhole(text.substr(0, text.size() - 1), 0, kMost);
    if (unit > 0 && number.ok()) return now_ms - static_cast<std::int64_t>(*number) * unit;
  }
  const std::string whole(text);
  for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* end = strptime(whole.c_str(), form, &parts);
    if (end == nullptr) continue;
    const std::string_view rest(end);
    if (rest.empty() || rest == "Z") return static_cast<std::int64_t>(timegm(&parts)) * 1000;
  }
  return Error(
      Code::kInvalidArgument,
      fmt::format("'{}' is not a time; use 90s, 5m, 2h or 1d ago, or 2026-01-31T12:30:00 (UTC)", ToText(text)));
}

}  // namespace ratchet::cli
