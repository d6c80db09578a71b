#include "master/storage/drop_marks.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace ratchet::master {
namespace {

constexpr std::string_view kDroppedPrefix = "dropped.";
constexpr std::string_view kKeptPrefix = "kept.";
constexpr std::uint64_t kGreatestMark = 1ULL << 62;

std::optional<std::uint64_t> MarkIn(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size() || number > kGreatestMark)
    return std::nullopt;
  return number;
}

void Raise(std::optional<std::uint64_t>& highest, std::optional<std::uint64_t> number) {
  if (number) highest = std::max(highest.value_or(0), *number);
}

}  // namespace

DropMarks DropMarksIn(const std::vector<std::string>& names) {
  DropMarks marks;
  for (const std::string& name : names) {
    Raise(marks.dropped, MarkIn(kDroppedPrefix, name));
    Raise(marks.kept, MarkIn(kKeptPrefix, name));
  }
  return marks;
}

std::string DroppedName(std::uint64_t number) { return fmt::format("{}{}", kDroppedPrefix, number); }

std::string KeptName(std::uint64_t number) { return fmt::format("{}{}", kKeptPrefix, number); }

std::optional<std::string> NameToDrop(const DropMarks& marks, std::uint64_t pid) {
  if (marks.may_go()) return std::nullopt;
  return DroppedName(marks.kept ? std::max(pid, *marks.kept + 1) : pid);
}

std::optional<std::string> NameToKeep(const DropMarks& marks, std::uint64_t pid) {
  const std::uint64_t number = std::max(pid, marks.dropped.value_or(0));
  if (number == 0 || (marks.kept && *marks.kept >= number)) return std::nullopt;
  return KeptName(number);
}

}  // namespace ratchet::master
