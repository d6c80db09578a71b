#include "procedure/store/segment_name.h"

#include <charconv>

#include <fmt/format.h>

namespace ratchet::procedure {
namespace {

// No store reaches this number, counting from 1. The largest number would have no next one.
constexpr std::uint64_t kGreatestNumber = 1ULL << 62;

// Accepts only the form that this code writes: no sign, no leading zero.
std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || text[0] == '0' ||
      value > kGreatestNumber)
    return std::nullopt;
  return value;
}

// "<prefix>.<rest>" -> rest
std::optional<std::string_view> AfterPrefix(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix) || name.size() <= prefix.size() || name[prefix.size()] != '.') return std::nullopt;
  return name.substr(prefix.size() + 1);
}

}  // namespace

std::string NumberedName(std::string_view prefix, SegmentId id) {
  return fmt::format("{}.{}.{}", prefix, id.epoch.value(), id.number);
}

std::string SegmentName(SegmentId id) { return NumberedName(kSegmentPrefix, id); }

std::string ClaimName(Epoch epoch) { return fmt::format("claim.{}", epoch.value()); }

std::optional<SegmentId> ParseNumberedName(std::string_view prefix, std::string_view name) {
  const auto rest = AfterPrefix(prefix, name);
  if (!rest) return std::nullopt;
  const std::size_t dot = rest->find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto epoch = ParseNumber(rest->substr(0, dot));
  const auto number = ParseNumber(rest->substr(dot + 1));
  if (!epoch || !number) return std::nullopt;
  return SegmentId{Epoch(*epoch), *number};
}

std::optional<Epoch> ParseClaimName(std::string_view name) {
  const auto rest = AfterPrefix("claim", name);
  if (!rest) return std::nullopt;
  const auto epoch = ParseNumber(*rest);
  if (!epoch) return std::nullopt;
  return Epoch(*epoch);
}

}  // namespace ratchet::procedure
