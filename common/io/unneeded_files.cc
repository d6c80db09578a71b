#include "common/io/unneeded_files.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace ratchet::io {
namespace {

constexpr std::string_view kCoveredPrefix = "covered.";
constexpr std::string_view kMadePrefix = "made.";

bool IsLogPrefix(std::string_view prefix) { return prefix == kRegionLogPrefix || prefix == kMetaLogPrefix; }

// The highest number in names "<mark><prefix>.<number>"; 0: there is none.
std::uint64_t HighestMark(const std::vector<std::string>& names, std::string_view mark, std::string_view prefix) {
  std::uint64_t highest = 0;
  for (const std::string& name : names) {
    if (!name.starts_with(mark)) continue;
    const auto log = ParseLogFileName(std::string_view(name).substr(mark.size()));
    if (log && log->prefix == prefix) highest = std::max(highest, log->number);
  }
  return highest;
}

}  // namespace

std::string ToString(const LogFileName& name) { return fmt::format("{}.{:010}", name.prefix, name.number); }

std::optional<LogFileName> ParseLogFileName(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || !IsLogPrefix(name.substr(0, dot))) return std::nullopt;
  const std::string_view digits = name.substr(dot + 1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return LogFileName{std::string(name.substr(0, dot)), number};
}

std::string CoveredMark(const LogFileName& newest_covered) {
  return std::string(kCoveredPrefix) + ToString(newest_covered);
}

std::uint64_t CoveredUpTo(const std::vector<std::string>& names, std::string_view prefix) {
  return HighestMark(names, kCoveredPrefix, prefix);
}

std::string MadeMark(const LogFileName& newest_made) { return std::string(kMadePrefix) + ToString(newest_made); }

std::uint64_t MadeUpTo(const std::vector<std::string>& names, std::string_view prefix) {
  return HighestMark(names, kMadePrefix, prefix);
}

bool IsCovered(const std::vector<std::string>& names, const LogFileName& log) {
  return log.number > 0 && log.number <= CoveredUpTo(names, log.prefix);
}

std::string UnneededName(std::string_view file) { return std::string(kUnneededPrefix).append(file); }

std::optional<std::string> ParseUnneededName(std::string_view name) {
  if (!name.starts_with(kUnneededPrefix) || name.size() == kUnneededPrefix.size()) return std::nullopt;
  return std::string(name.substr(kUnneededPrefix.size()));
}

}  // namespace ratchet::io
