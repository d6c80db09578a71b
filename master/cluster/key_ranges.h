// Finds keys of a table that no region, or several regions, cover. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/region_info.h"
#include "master/cluster/region_directory.h"

namespace ratchet::master {

// [start, end); an empty end: up to the last key.
struct KeyRange {
  std::string start;
  std::string end;
  [[nodiscard]] bool operator==(const KeyRange&) const = default;
};

[[nodiscard]] KeyRange RangeOf(const RegionInfo& region);
[[nodiscard]] bool Overlap(const KeyRange& a, const KeyRange& b);  // true if they have a key in common
// The key for messages: unprintable bytes as \x00, a long key cut.
[[nodiscard]] std::string KeyText(std::string_view key);
// Text such as "from 'b' to 'c'"; unprintable bytes as \x00, long keys cut.
[[nodiscard]] std::string RangeText(const KeyRange& range);

// Returns the parts of `wanted` that no region of `have` covers, in key order.
[[nodiscard]] std::vector<KeyRange> Uncovered(const KeyRange& wanted, const std::vector<RegionNode>& have);

// Returns up to `most` problems of one table: keys that no region or several regions cover. Each text names the table,
// the regions, the keys and the command that repairs the problem. Split and merged regions cover no keys.
[[nodiscard]] std::vector<std::string> RangeProblems(const TableName& table, const std::vector<RegionNode>& regions,
                                                     std::size_t most);

}  // namespace ratchet::master
