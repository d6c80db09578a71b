#include "chaos/workloads/key_ranges.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/printable.h"

namespace ratchet::chaos {

std::vector<std::string> WrongRanges(const std::string& table, std::vector<KeyRange> ranges) {
  if (ranges.empty()) return {fmt::format("{} has no region", table)};
  std::sort(ranges.begin(), ranges.end());
  std::vector<std::string> wrong;
  std::string covered;      // all keys below it are covered
  bool to_the_end = false;  // covered up to the last key
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const KeyRange& range = ranges[i];
    const bool overlaps = i > 0 && (to_the_end || range.start < covered);
    if (overlaps || range.start != covered) {
      const std::string up_to = to_the_end ? "the last key" : fmt::format("'{}'", PrintableText(covered));
      wrong.push_back(fmt::format("{}: keys up to {} are covered, the next region begins at '{}'", table, up_to,
                                  PrintableText(range.start)));
    }
    to_the_end = to_the_end || range.end.empty();
    covered = std::max(covered, range.end);
  }
  if (!to_the_end) wrong.push_back(fmt::format("{} has no region after '{}'", table, PrintableText(covered)));
  return wrong;
}

}  // namespace ratchet::chaos
