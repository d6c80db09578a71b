#include "common/base/setting_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace ratchet {
namespace {

template <class Number>
bool ParseWhole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// Splits "64MiB" into 64 and "MiB"; false when there is no leading number.
bool SplitUnit(std::string_view text, std::int64_t& number, std::string_view& unit) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc()) return false;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return true;
}

using Scale = std::pair<std::string_view, std::int64_t>;
constexpr std::array kTimeScales = {Scale{"", 1}, Scale{"ms", 1}, Scale{"s", 1000}, Scale{"min", 60'000},
                                    Scale{"h", 3'600'000}};
constexpr std::array kByteScales = {Scale{"", 1}, Scale{"B", 1}, Scale{"KiB", 1LL << 10}, Scale{"MiB", 1LL << 20},
                                    Scale{"GiB", 1LL << 30}};

template <std::size_t kCount>
Result<std::int64_t> ParseScaled(std::string_view text, const std::array<Scale, kCount>& scales,
                                 std::string_view expected) {
  std::int64_t number = 0;
  std::string_view unit;
  if (!SplitUnit(text, number, unit)) return Error(Code::kInvalidArgument, std::string(expected));
  for (const auto& [name, factor] : scales) {
    if (name != unit) continue;
    const std::int64_t limit = std::numeric_limits<std::int64_t>::max() / factor;
    if (number > limit || number < -limit) return Error(Code::kInvalidArgument, "the number is too large");
    return number * factor;
  }
  return Error(Code::kInvalidArgument, std::string(expected));
}

}  // namespace

Result<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t value = 0;
  if (!ParseWhole(text, value)) return Error(Code::kInvalidArgument, "expected a whole number");
  return value;
}

Result<double> ParseDouble(std::string_view text) {
  double value = 0;
  if (!ParseWhole(text, value) || !std::isfinite(value)) return Error(Code::kInvalidArgument, "expected a number");
  return value;
}

Result<bool> ParseBool(std::string_view text) {
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return Error(Code::kInvalidArgument, "expected true or false");
}

Result<Millis> ParseMillis(std::string_view text) {
  RATCHET_ASSIGN(const std::int64_t value,
                 ParseScaled(text, kTimeScales, "expected a duration such as 1500, 1500ms, 2s, 5min or 1h"));
  return Millis(value);
}

Result<std::uint64_t> ParseBytes(std::string_view text) {
  RATCHET_ASSIGN(const std::int64_t value,
                 ParseScaled(text, kByteScales, "expected a size such as 65536, 64KiB, 128MiB or 2GiB"));
  if (value < 0) return Error(Code::kInvalidArgument, "a size cannot be negative");
  return static_cast<std::uint64_t>(value);
}

std::string FormatBytes(std::uint64_t bytes) {
  for (auto scale = kByteScales.rbegin(); scale != kByteScales.rend(); ++scale) {
    const auto factor = static_cast<std::uint64_t>(scale->second);
    if (factor > 1 && bytes >= factor && bytes % factor == 0)
      return std::to_string(bytes / factor) + std::string(scale->first);
  }
  return std::to_string(bytes);
}

std::string Trim(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string Join(const std::vector<std::string>& parts, std::string_view between) {
  std::string result;
  for (const auto& part : parts) {
    if (!result.empty()) result += between;
    result += part;
  }
  return result;
}

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto comma = std::min(text.find(',', begin), text.size());
    if (auto part = Trim(text.substr(begin, comma - begin)); !part.empty()) parts.push_back(std::move(part));
    begin = comma + 1;
  }
  return parts;
}

}  // namespace ratchet
