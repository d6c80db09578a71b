#include "tests/unit/regionserver_engine/naive_table.h"

#include <algorithm>
#include <set>

namespace ratchet::regionserver {

std::vector<NaiveTable::Written> NaiveTable::Versions(const std::string& row, const std::string& family,
                                                      const std::string& qualifier, std::int64_t now_ms) const {
  std::map<std::int64_t, Written, std::greater<>> by_time;  // the last one written at a timestamp replaces the others
  for (const Written& written : cells_) {
    const Cell& cell = written.cell;
    if (cell.type == CellType::kPut && cell.row == row && cell.family == family && cell.qualifier == qualifier)
      by_time[cell.timestamp] = written;
  }
  for (const Written& written : cells_) {
    const Cell& marker = written.cell;
    if (marker.row != row || marker.family != family) continue;
    std::erase_if(by_time, [&](const auto& entry) {
      const std::int64_t put = entry.first;
      switch (marker.type) {
        case CellType::kDelete: return marker.qualifier == qualifier && put == marker.timestamp;
        case CellType::kDeleteColumn: return marker.qualifier == qualifier && put <= marker.timestamp;
        case CellType::kDeleteFamily: return put <= marker.timestamp;
        case CellType::kDeleteFamilyVersion: return put == marker.timestamp;
        default: return false;
      }
    });
  }
  std::erase_if(by_time, [&](const auto& entry) { return entry.second.ttl_ms > 0 && now_ms > entry.first + entry.second.ttl_ms; });
  const NaiveFamily& rules = families_.at(family);
  std::vector<Written> versions;
  for (const auto& [timestamp, written] : by_time) {
    if (versions.size() == rules.max_versions) break;
    const bool expired = rules.ttl_ms != INT64_MAX && now_ms > timestamp + rules.ttl_ms;
    if (expired && versions.size() >= rules.min_versions) break;
    versions.push_back(written);
  }
  return versions;
}

std::int64_t NaiveTable::NthNewest(const std::string& row, const std::string& family, const std::string& qualifier,
                                   std::size_t nth, std::int64_t now_ms) const {
  const std::vector<Written> versions = Versions(row, family, qualifier, now_ms);
  return versions.size() < nth ? -1 : versions[nth - 1].cell.timestamp;
}

std::vector<Cell> NaiveTable::Read(const std::string& row, const ReadSpec& spec, std::int64_t now_ms) const {
  std::vector<Cell> out;
  for (const auto& [family, rules] : families_) {
    if (!spec.columns.empty() && !spec.columns.contains(family)) continue;
    std::set<std::string> qualifiers;
    for (const Written& written : cells_)
      if (written.cell.row == row && written.cell.family == family) qualifiers.insert(written.cell.qualifier);
    if (!spec.columns.empty() && !spec.columns.at(family).empty()) {
      std::set<std::string> wanted(spec.columns.at(family).begin(), spec.columns.at(family).end());
      std::erase_if(qualifiers, [&](const std::string& qualifier) { return !wanted.contains(qualifier); });
    }
    std::vector<Cell> selected;
    for (const std::string& qualifier : qualifiers) {
      std::size_t taken = 0;
      for (const Written& version : Versions(row, family, qualifier, now_ms)) {
        if (!spec.time_range.Contains(version.cell.timestamp) || taken == spec.max_versions) continue;
        ++taken;
        selected.push_back(version.cell);
      }
    }
    for (std::size_t i = 0; i < selected.size(); ++i)
      if (i >= spec.store_offset && (!spec.store_limit || i < spec.store_offset + *spec.store_limit)) out.push_back(selected[i]);
  }
  return out;
}

std::vector<std::string> NaiveTable::Rows() const {
  std::set<std::string> rows;
  for (const Written& written : cells_) rows.insert(written.cell.row);
  return {rows.begin(), rows.end()};
}

void NaiveTable::MajorCompact(std::int64_t now_ms) {
  std::set<std::tuple<std::string, std::string, std::string>> columns;
  for (const Written& written : cells_) columns.insert({written.cell.row, written.cell.family, written.cell.qualifier});
  std::vector<Written> kept;
  for (const auto& [row, family, qualifier] : columns)
    for (const Written& version : Versions(row, family, qualifier, now_ms)) kept.push_back(version);
  cells_ = std::move(kept);
}

}  // namespace ratchet::regionserver
