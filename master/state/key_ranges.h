// The keys that a table's regions cover, and what is wrong with that. Functions of what they are given.
#pragma once

#include <string>
#include <vector>

#include "common/model/region_info.h"
#include "master/state/region_directory.h"

namespace ratchet::master {

// [start, end); an empty end: up to the last key.
struct KeyRange {
  std::string start;
  std::string end;
  [[nodiscard]] bool operator==(const KeyRange&) const = default;
};

[[nodiscard]] KeyRange RangeOf(const RegionInfo& region);
[[nodiscard]] bool Overlap(const KeyRange& a, const KeyRange& b);  // have a key in common
// "from 'b' to 'c'", bytes that cannot be printed as \x00; long keys are cut.
[[nodiscard]] std::string RangeText(const KeyRange& range);

// The parts of `wanted` that none of `have` covers, in order.
[[nodiscard]] std::vector<KeyRange> Uncovered(const KeyRange& wanted, const std::vector<RegionNode>& have);

// Of the regions of one table: keys that no region has, and keys that several have. Each names the table, the regions,
// the keys and the verb that mends it. What was split or merged covers nothing any more. At most `most` of them.
[[nodiscard]] std::vector<std::string> RangeProblems(const TableName& table, const std::vector<RegionNode>& regions,
                                                     std::size_t most);

}  // namespace ratchet::master
