#include "master/cluster/key_ranges.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/base/printable.h"

namespace ratchet::master {
namespace {

bool Covers(const RegionNode& node) { return HasItsRows(node.state) && node.info.replica_id == 0; }

std::vector<const RegionNode*> ByStart(const std::vector<RegionNode>& regions) {
  std::vector<const RegionNode*> sorted;
  for (const RegionNode& node : regions) {
    if (Covers(node)) sorted.push_back(&node);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RegionNode* a, const RegionNode* b) { return a->info.start_key < b->info.start_key; });
  return sorted;
}

// Compares ends of ranges: an empty end is after every key.
bool EndsBefore(const std::string& end, const std::string& other) {
  return !end.empty() && (other.empty() || end < other);
}

}  // namespace

std::string KeyText(std::string_view key) {
  constexpr std::size_t kShown = 64;
  return PrintableText(key.substr(0, kShown), "\\'") + (key.size() > kShown ? "..." : "");
}

KeyRange RangeOf(const RegionInfo& region) { return {region.start_key, region.end_key}; }

bool Overlap(const KeyRange& a, const KeyRange& b) {
  const auto begins_before_end = [](const KeyRange& one, const KeyRange& other) {
    return other.end.empty() || one.start < other.end;
  };
  return begins_before_end(a, b) && begins_before_end(b, a);
}

std::string RangeText(const KeyRange& range) {
  return fmt::format("from {} to {}", range.start.empty() ? "the first" : "'" + KeyText(range.start) + "'",
                     range.end.empty() ? "the last" : "'" + KeyText(range.end) + "'");
}

std::vector<KeyRange> Uncovered(const KeyRange& wanted, const std::vector<RegionNode>& have) {
  std::vector<KeyRange> holes;
  std::string at = wanted.start;  // all keys of `wanted` below are covered
  for (const RegionNode* node : ByStart(have)) {
    const RegionInfo& region = node->info;
    if (!region.end_key.empty() && region.end_key <= at) continue;
    if (!wanted.end.empty() && region.start_key >= wanted.end) break;
    if (at < region.start_key) holes.push_back({at, region.start_key});
    if (region.end_key.empty()) return holes;
    at = std::max(at, region.end_key);
    if (!wanted.end.empty() && at >= wanted.end) return holes;
  }
  holes.push_back({at, wanted.end});
  return holes;
}

std::vector<std::string> RangeProblems(const TableName& table, const std::vector<RegionNode>& regions,
                                       std::size_t most) {
  std::vector<std::string> problems;
  for (const KeyRange& hole : Uncovered({}, regions)) {
    if (problems.size() >= most) return problems;
    problems.push_back(
        fmt::format("table {} has no region for the rows {}: 'ratchet fill-holes {}' makes empty regions there",
                    table.ToString(), RangeText(hole), table.ToString()));
  }
  const RegionNode* widest = nullptr;  // the previous region with the greatest end
  for (const RegionNode* node : ByStart(regions)) {
    if (widest != nullptr && (widest->info.end_key.empty() || node->info.start_key < widest->info.end_key)) {
      if (problems.size() >= most) return problems;
      const std::string& end =
          EndsBefore(node->info.end_key, widest->info.end_key) ? node->info.end_key : widest->info.end_key;
      problems.push_back(
          fmt::format("table {} has the regions {} and {} for the same rows {}: give up one region (ratchet unassign, "
                      "then ratchet give-up)",
                      table.ToString(), widest->info.encoded_name(), node->info.encoded_name(),
                      RangeText({node->info.start_key, end})));
    }
    if (widest == nullptr || EndsBefore(widest->info.end_key, node->info.end_key)) widest = node;
  }
  return problems;
}

}  // namespace ratchet::master
