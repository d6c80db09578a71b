#include "regionserver/store/row_selector.h"

#include <algorithm>
#include <utility>

namespace ratchet::regionserver {
namespace {

bool Wanted(const std::vector<std::string>* qualifiers, const std::string& qualifier) {
  return qualifiers == nullptr || qualifiers->empty() ||
         std::find(qualifiers->begin(), qualifiers->end(), qualifier) != qualifiers->end();
}

}  // namespace

ExistingPuts::ExistingPuts(const FamilyRules& rules, std::int64_t now_ms) : rules_(rules), now_ms_(now_ms) {}

void ExistingPuts::NoteFamilyMarker(const StoredCell& stored) {
  if (stored.cell.type == CellType::kDeleteFamily) family_deleted_ = std::max(family_deleted_, stored.cell.timestamp);
  if (stored.cell.type == CellType::kDeleteFamilyVersion) family_versions_.insert(stored.cell.timestamp);
}

bool ExistingPuts::Exists(const StoredCell& stored) {
  const Cell& cell = stored.cell;
  if (!in_column_ || qualifier_ != cell.qualifier) BeginColumn(cell.qualifier);
  switch (cell.type) {
    case CellType::kDeleteColumn: column_deleted_ = std::max(column_deleted_, cell.timestamp); return false;
    case CellType::kDelete: version_deleted_ = cell.timestamp; return false;
    case CellType::kDeleteFamily:
    case CellType::kDeleteFamilyVersion: NoteFamilyMarker(stored); return false;
    case CellType::kPut: break;
  }
  if (cell.timestamp == last_put_) return false;  // the same version again: the newest sequence came first
  last_put_ = cell.timestamp;
  if (IsDeleted(cell.timestamp)) return false;
  if (stored.ttl_ms > 0 && Expired(cell.timestamp, stored.ttl_ms)) return false;
  if (ColumnIsFull()) return false;
  if (Expired(cell.timestamp, rules_.ttl_ms) && versions_ >= rules_.min_versions) return false;
  ++versions_;
  return true;
}

void ExistingPuts::BeginColumn(const std::string& qualifier) {
  in_column_ = true;
  qualifier_ = qualifier;
  column_deleted_ = INT64_MIN;
  version_deleted_.reset();
  last_put_.reset();
  versions_ = 0;
}

bool ExistingPuts::IsDeleted(std::int64_t timestamp) const {
  return timestamp <= family_deleted_ || timestamp <= column_deleted_ || timestamp == version_deleted_ ||
         family_versions_.contains(timestamp);
}

bool ExistingPuts::Expired(std::int64_t timestamp, std::int64_t ttl_ms) const {
  return ttl_ms < INT64_MAX - std::max<std::int64_t>(timestamp, 0) && now_ms_ > timestamp + ttl_ms;
}

FamilyRules RulesOf(const FamilyDescriptor& family) {
  FamilyRules rules;
  rules.max_versions = static_cast<std::uint32_t>(std::max(family.max_versions(), 1));
  rules.min_versions = static_cast<std::uint32_t>(std::max(family.min_versions(), 0));
  rules.ttl_ms = family.ttl_millis().value_or(INT64_MAX);
  return rules;
}

void SelectFamily(const std::vector<StoredCell>& family, const FamilyRules& rules, const ReadSpec& spec,
                  std::int64_t now_ms, std::vector<Cell>& out) {
  if (family.empty()) return;
  const std::string& name = family.front().cell.family;
  const auto columns = spec.columns.find(name);
  const std::vector<std::string>* qualifiers = columns == spec.columns.end() ? nullptr : &columns->second;
  const auto own_range = spec.family_time_ranges.find(name);
  const TimeRange& range = own_range == spec.family_time_ranges.end() ? spec.time_range : own_range->second;

  ExistingPuts puts(rules, now_ms);
  for (const StoredCell& stored : family) puts.NoteFamilyMarker(stored);
  const std::string* qualifier = nullptr;
  std::uint32_t versions = 0;
  std::uint64_t selected = 0;
  for (const StoredCell& stored : family) {
    if (!puts.Exists(stored)) continue;
    const Cell& cell = stored.cell;
    if (!Wanted(qualifiers, cell.qualifier) || !range.Contains(cell.timestamp)) continue;
    if (qualifier == nullptr || *qualifier != cell.qualifier) versions = 0;
    qualifier = &cell.qualifier;
    if (++versions > spec.max_versions) continue;
    if (++selected <= spec.store_offset) continue;
    if (spec.store_limit && selected - spec.store_offset > *spec.store_limit) return;
    out.push_back(cell);
  }
}

std::vector<StoredCell> CompactFamily(std::vector<StoredCell> family, const FamilyRules& rules, bool major,
                                      std::int64_t now_ms) {
  std::vector<StoredCell> kept;
  kept.reserve(family.size());
  ExistingPuts puts(rules, now_ms);
  for (const StoredCell& stored : family) puts.NoteFamilyMarker(stored);
  for (StoredCell& stored : family) {
    if (major) {
      if (puts.Exists(stored)) kept.push_back(std::move(stored));
      continue;
    }
    const bool again = !kept.empty() && kept.back().cell.qualifier == stored.cell.qualifier &&
                       kept.back().cell.timestamp == stored.cell.timestamp && kept.back().cell.type == stored.cell.type;
    if (!again) kept.push_back(std::move(stored));
  }
  return kept;
}

}  // namespace ratchet::regionserver
