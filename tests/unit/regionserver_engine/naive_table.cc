#include "tests/unit/regionserver_engine/naive_table.h"

#include <algorithm>
#include <set>

namespace ratchet::regionserver {

namespace {

bool Hides(const Cell& marker, const std::string& qualifier, std::int64_t put) {
  switch (marker.type) {
    case CellType::kDelete: return marker.qualifier == qualifier && put == marker.timestamp;
    case CellType::kDeleteColumn: return marker.qualifier == qualifier && put <= marker.timestamp;
    case CellType::kDeleteFamily: return put <= marker.timestamp;
    case CellType::kDeleteFamilyVersion: return put == marker.timestamp;
    default: return false;
  }
}

bool IsOver(const NaiveFamily& rules, std::int64_t timestamp, std::int64_t now_ms) {
  return rules.ttl_ms != INT64_MAX && now_ms > timestamp + rules.ttl_ms;
}

}  // namespace

bool NaiveTable::KeepsDeleted(const Cell& marker, std::int64_t now_ms) const {
  const NaiveFamily& rules = families_.at(marker.family);
  return rules.keep_deleted == KeepDeleted::kForever ||
         (rules.keep_deleted == KeepDeleted::kUntilExpired && !IsOver(rules, marker.timestamp, now_ms));
}

std::vector<NaiveTable::Written> NaiveTable::Versions(const std::string& row, const std::string& family,
                                                      const std::string& qualifier, std::int64_t now_ms,
                                                      const TimeRange& markers) const {
  std::map<std::int64_t, Written, std::greater<>> by_time;  // the last one written at a timestamp replaces the others
  for (const Written& written : cells_) {
    const Cell& cell = written.cell;
    if (cell.type == CellType::kPut && cell.row == row && cell.family == family && cell.qualifier == qualifier)
      by_time[cell.timestamp] = written;
  }
  std::vector<Cell> keepers;  // cells hidden by these continue to exist
  for (const Written& written : cells_) {
    const Cell& marker = written.cell;
    if (marker.row != row || marker.family != family || marker.type == CellType::kPut) continue;
    if (KeepsDeleted(marker, now_ms)) {
      if (markers.Contains(marker.timestamp)) keepers.push_back(marker);
      continue;
    }
    std::erase_if(by_time, [&](const auto& entry) { return Hides(marker, qualifier, entry.first); });
  }
  std::erase_if(by_time,
                [&](const auto& entry) { return entry.second.ttl_ms && now_ms > entry.first + *entry.second.ttl_ms; });
  const NaiveFamily& rules = families_.at(family);
  std::vector<Written> versions;
  std::size_t existing = 0;
  for (const auto& [timestamp, written] : by_time) {
    if (existing == rules.max_versions) break;
    if (IsOver(rules, timestamp, now_ms) && existing >= rules.min_versions) break;
    ++existing;
    bool hidden = false;
    for (const Cell& marker : keepers) hidden = hidden || Hides(marker, qualifier, timestamp);
    if (!hidden) versions.push_back(written);
  }
  return versions;
}

std::int64_t NaiveTable::NthNewest(const std::string& row, const std::string& family, const std::string& qualifier,
                                   std::size_t nth, std::int64_t now_ms) const {
  const std::vector<Written> versions = Versions(row, family, qualifier, now_ms, TimeRange{});
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
      for (const Written& version : Versions(row, family, qualifier, now_ms, spec.time_range)) {
        if (!spec.time_range.Contains(version.cell.timestamp) || taken == spec.max_versions) continue;
        ++taken;
        selected.push_back(version.cell);
      }
    }
    for (std::size_t i = 0; i < selected.size(); ++i)
      if (i >= spec.store_offset && (!spec.store_limit || i < spec.store_offset + *spec.store_limit))
        out.push_back(selected[i]);
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
    for (const Written& version : Versions(row, family, qualifier, now_ms, TimeRange{0, 0})) kept.push_back(version);
  for (const Written& written : cells_)
    if (written.cell.type != CellType::kPut && KeepsDeleted(written.cell, now_ms)) kept.push_back(written);
  cells_ = std::move(kept);
}

}  // namespace ratchet::regionserver
