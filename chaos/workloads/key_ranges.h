// Whether the regions of a table cover every key once. Pure.
#pragma once

#include <string>
#include <vector>

namespace ratchet::chaos {

// [start, end); an empty `end`: to the last key.
struct KeyRange {
  std::string start;
  std::string end;
  auto operator<=>(const KeyRange&) const = default;
};

// One sentence for each hole and each overlap, whatever the order of `ranges`. Empty: there is none.
[[nodiscard]] std::vector<std::string> WrongRanges(const std::string& table, std::vector<KeyRange> ranges);

}  // namespace ratchet::chaos
