// Selection of cells in each row of a read. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regionserver/filter/read_filter.h"

namespace ratchet::regionserver {

// Half-open interval [from, to), in milliseconds.
struct TimeRange {
  std::int64_t from = 0;
  std::int64_t to = INT64_MAX;
  [[nodiscard]] bool Contains(std::int64_t timestamp) const {
    return timestamp >= from && (timestamp < to || to == INT64_MAX);
  }
};

// Family -> qualifiers; no qualifiers: the whole family. An empty map: all families.
using ColumnSelection = std::map<std::string, std::vector<std::string>, std::less<>>;

// Selects the cells of each row.
struct ReadSpec {
  ColumnSelection columns;
  TimeRange time_range;
  std::map<std::string, TimeRange, std::less<>> family_time_ranges;  // replaces time_range for these families
  std::uint32_t max_versions = 1;
  std::optional<std::uint32_t> store_limit;  // maximum cells per family and row
  std::uint32_t store_offset = 0;            // cells skipped per family and row
  bool raw = false;                          // return all stored cells, including markers; whole families only
  std::shared_ptr<ReadFilter> filter;        // null: no filter; used by this read only
};

}  // namespace ratchet::regionserver
