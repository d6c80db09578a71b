// What a read takes of each row. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regionserver/filter/read_filter.h"

namespace ratchet::regionserver {

// Half-open [from, to), milliseconds.
struct TimeRange {
  std::int64_t from = 0;
  std::int64_t to = INT64_MAX;
  [[nodiscard]] bool Contains(std::int64_t timestamp) const {
    return timestamp >= from && (timestamp < to || to == INT64_MAX);
  }
};

// Family -> qualifiers; no qualifiers: the whole family. An empty map: all families.
using ColumnSelection = std::map<std::string, std::vector<std::string>, std::less<>>;

// What to take of each row.
struct ReadSpec {
  ColumnSelection columns;
  TimeRange time_range;
  std::map<std::string, TimeRange, std::less<>> family_time_ranges;  // instead of time_range, for these families
  std::uint32_t max_versions = 1;
  std::optional<std::uint32_t> store_limit;  // cells per family and row
  std::uint32_t store_offset = 0;            // cells skipped per family and row
  bool raw = false;                          // what is stored, markers too; whole families only
  std::shared_ptr<ReadFilter> filter;        // null: none; of this read only
};

}  // namespace ratchet::regionserver
