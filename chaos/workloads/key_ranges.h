// Checks that the regions of a table cover every key once. Pure.
#pragma once

#include <string>
#include <vector>

namespace ratchet::chaos {

// [start, end); an empty `end`: up to the last key.
struct KeyRange {
  std::string start;
  std::string end;
  auto operator<=>(const KeyRange&) const = default;
};

// Returns one sentence for each hole and each overlap, for any order of `ranges`.
[[nodiscard]] std::vector<std::string> WrongRanges(const std::string& table, std::vector<KeyRange> ranges);

}  // namespace ratchet::chaos
