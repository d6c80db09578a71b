#include "common/tools/cli/flag_checks.h"

#include <charconv>

#include "common/tools/cli/bytes_text.h"

namespace ratchet::cli {

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

}  // namespace ratchet::cli
