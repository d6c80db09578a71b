// HBase's data model by brute force: every cell ever written in one list, every read searches all of them. Written
// independently of the engine, to judge it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/cell.h"
#include "common/model/cell_tags.h"
#include "regionserver/region/requests.h"
#include "regionserver/store/row_selector.h"

namespace ratchet::regionserver {

struct NaiveFamily {
  std::size_t max_versions = 1;
  std::size_t min_versions = 0;
  std::int64_t ttl_ms = INT64_MAX;
  KeepDeleted keep_deleted = KeepDeleted::kNo;
};

class NaiveTable {
 public:
  explicit NaiveTable(std::map<std::string, NaiveFamily> families) : families_(std::move(families)) {}

  // A time to live is returned as a tag.
  void Write(Cell cell, std::optional<std::int64_t> ttl_ms = std::nullopt) {
    if (ttl_ms) AppendTtlTag(*ttl_ms, cell.tags);
    cells_.push_back({std::move(cell), ttl_ms});
  }
  // Timestamp of the n-th newest existing version; -1 when there are fewer.
  [[nodiscard]] std::int64_t NthNewest(const std::string& row, const std::string& family, const std::string& qualifier,
                                       std::size_t nth, std::int64_t now_ms) const;
  [[nodiscard]] std::vector<Cell> Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms) const;
  [[nodiscard]] std::vector<std::string> Rows() const;  // with any cell, in plain order
  // Keeps existing cells, drops the rest, including markers unless they keep hidden cells.
  void MajorCompact(std::int64_t now_ms);

 private:
  struct Written {
    Cell cell;
    std::optional<std::int64_t> ttl_ms;
  };
  // The existing versions of a column, newest first, without those that are hidden from readers by markers in
  // `markers`.
  [[nodiscard]] std::vector<Written> Versions(const std::string& row, const std::string& family,
                                              const std::string& qualifier, std::int64_t now_ms,
                                              const TimeRange& markers) const;
  [[nodiscard]] bool KeepsDeleted(const Cell& marker, std::int64_t now_ms) const;

  const std::map<std::string, NaiveFamily> families_;
  std::vector<Written> cells_;  // in the order of writing
};

}  // namespace ratchet::regionserver
