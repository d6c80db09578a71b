#include "regionserver/store/row_selector.h"

#include <algorithm>
#include <cctype>

namespace ratchet::regionserver {

void ExistingPuts::Begin(const FamilyRules& rules, std::int64_t now_ms, const TimeRange& markers) {
  rules_ = rules;
  now_ms_ = now_ms;
  markers_ = markers;
  family_deleted_ = INT64_MIN;
  family_versions_.clear();
  BeginColumn();
}

void ExistingPuts::BeginColumn() {
  column_over_ = false;
  version_deleted_.reset();
  last_put_.reset();
  versions_ = 0;
}

bool ExistingPuts::Exists(CellType type, std::int64_t timestamp, std::optional<std::int64_t> ttl_ms) {
  if (type != CellType::kPut && KeepsDeleted(timestamp) && !markers_.Contains(timestamp)) return false;
  switch (type) {
    case CellType::kDeleteColumn: column_over_ = true; return false;  // all later cells are older, or as old
    case CellType::kDelete: version_deleted_ = timestamp; return false;
    case CellType::kDeleteFamily:
      family_deleted_ = std::max(family_deleted_, timestamp);
      column_over_ = true;
      return false;
    case CellType::kDeleteFamilyVersion:
      if (timestamp > family_deleted_) family_versions_.insert(timestamp);
      return false;
    case CellType::kPut: break;
  }
  return PutExists(timestamp, ttl_ms);
}

bool ExistingPuts::PutExists(std::int64_t timestamp, std::optional<std::int64_t> ttl_ms) {
  if (timestamp == last_put_) return false;  // the same version again: the newest sequence came first
  last_put_ = timestamp;
  if (timestamp <= family_deleted_) column_over_ = true;
  if (column_over_) return false;
  const bool hidden = IsDeleted(timestamp);
  if (hidden && !KeepsDeleted(timestamp)) return false;
  if (ttl_ms && Expired(timestamp, *ttl_ms)) return false;
  if (Expired(timestamp, rules_.ttl_ms) && versions_ >= rules_.min_versions) {
    column_over_ = true;
    return false;
  }
  column_over_ = ++versions_ >= rules_.max_versions;
  return !hidden;
}

bool ExistingPuts::KeepsDeleted(std::int64_t timestamp) const {
  switch (rules_.keep_deleted) {
    case KeepDeleted::kNo: return false;
    case KeepDeleted::kForever: return true;
    case KeepDeleted::kUntilExpired: return !Expired(timestamp, rules_.ttl_ms);
  }
  return false;
}

// Markers of the whole family are stored in the empty column, but do not count among its versions.
bool ExistingPuts::KeepsMarker(CellType type, std::int64_t timestamp) const {
  if (!KeepsDeleted(timestamp)) return false;
  if (rules_.min_versions == 0 && Expired(timestamp, rules_.ttl_ms)) return false;
  return type == CellType::kDeleteFamily || type == CellType::kDeleteFamilyVersion || !column_over_;
}

bool ExistingPuts::IsDeleted(std::int64_t timestamp) const {
  return timestamp == version_deleted_ || (!family_versions_.empty() && family_versions_.contains(timestamp));
}

bool ExistingPuts::Expired(std::int64_t timestamp, std::int64_t ttl_ms) const {
  return ttl_ms < INT64_MAX - std::max<std::int64_t>(timestamp, 0) && now_ms_ > timestamp + ttl_ms;
}

namespace {

bool EqualIgnoringCase(std::string_view text, std::string_view upper) {
  return std::equal(text.begin(), text.end(), upper.begin(), upper.end(),
                    [](unsigned char a, char b) { return std::toupper(a) == b; });
}

}  // namespace

FamilyRules RulesOf(const FamilyDescriptor& family) {
  FamilyRules rules;
  rules.max_versions = static_cast<std::uint32_t>(std::max(family.max_versions(), 1));
  rules.min_versions = static_cast<std::uint32_t>(std::max(family.min_versions(), 0));
  rules.ttl_ms = family.ttl_millis().value_or(INT64_MAX);
  if (const auto keep = family.attributes.find("KEEP_DELETED_CELLS"); keep != family.attributes.end()) {
    if (EqualIgnoringCase(keep->second, "TRUE")) rules.keep_deleted = KeepDeleted::kForever;
    if (EqualIgnoringCase(keep->second, "TTL")) rules.keep_deleted = KeepDeleted::kUntilExpired;
  }
  return rules;
}

RowQuery MakeRowQuery(const std::map<std::string, FamilyRules, std::less<>>& families, const ReadSpec& spec) {
  RowQuery wishes;
  if (spec.store_limit == 0U) return wishes;
  for (const auto& [family, rules] : families) {
    const auto columns = spec.columns.find(family);
    if (!spec.columns.empty() && columns == spec.columns.end()) continue;
    FamilyQuery query;
    query.family = family;
    query.rules = rules;
    if (columns != spec.columns.end()) query.qualifiers = columns->second;
    std::sort(query.qualifiers.begin(), query.qualifiers.end());
    query.qualifiers.erase(std::unique(query.qualifiers.begin(), query.qualifiers.end()), query.qualifiers.end());
    const auto own_range = spec.family_time_ranges.find(family);
    query.range = own_range == spec.family_time_ranges.end() ? spec.time_range : own_range->second;
    query.max_versions = spec.max_versions;
    query.limit = spec.store_limit;
    query.offset = spec.store_offset;
    query.raw = spec.raw;
    wishes.push_back(std::move(query));
  }
  return wishes;
}

void FamilySelector::Begin(const FamilyQuery& query, std::int64_t now_ms, ReadFilter* filter) {
  filter_ = filter;
  query_ = &query;
  puts_.Begin(query.rules, now_ms, query.range);
  next_wanted_ = 0;
  selected_ = 0;
}

void FamilySelector::BeginColumn(std::string_view qualifier) {
  puts_.BeginColumn();
  versions_ = 0;
  passed_ = false;
  last_raw_.reset();
  empty_column_ = qualifier.empty();
  const std::vector<std::string>& wanted = query_->qualifiers;
  wanted_ = wanted.empty();
  if (wanted_) return;
  while (next_wanted_ < wanted.size() && wanted[next_wanted_] < qualifier) ++next_wanted_;
  wanted_ = next_wanted_ < wanted.size() && wanted[next_wanted_] == qualifier;
  if (wanted_) ++next_wanted_;
}

const std::string* FamilySelector::NextWanted() const {
  return next_wanted_ < query_->qualifiers.size() ? &query_->qualifiers[next_wanted_] : nullptr;
}

// The empty column may have markers of the whole family among its puts, until the newest that hides all older cells was
// seen.
FamilySelector::Next FamilySelector::BehindColumn() const {
  if (empty_column_ && !puts_.FamilyIsDeleted()) return Next::kCell;
  return query_->qualifiers.empty() ? Next::kColumn : Next::kWantedColumn;
}

FamilySelector::Verdict FamilySelector::Take(Next next) {
  if (++selected_ <= query_->offset) return {false, next};
  if (query_->limit && selected_ - query_->offset >= *query_->limit) next = Next::kFamily;
  return {true, next};
}

FamilySelector::Verdict FamilySelector::LookRaw(const CellView& cell, std::optional<std::int64_t> ttl_ms) {
  const auto [type, timestamp] = std::pair(cell.type, cell.timestamp);
  if (timestamp < query_->range.from) return {false, Next::kColumn};
  const std::pair<std::int64_t, CellType> here{timestamp, type};
  if (!query_->range.Contains(timestamp) || here == last_raw_) return {false, Next::kCell};
  if (ttl_ms && puts_.Expired(timestamp, *ttl_ms)) return {false, Next::kCell};
  last_raw_ = here;
  if (filter_ != nullptr) return Ask(cell, Next::kCell);
  if (type == CellType::kPut && ++versions_ > query_->max_versions) return {false, Next::kColumn};
  return Take(Next::kCell);
}

FamilySelector::Next FamilySelector::PassColumn() {
  passed_ = true;
  return query_->raw ? Next::kColumn : BehindColumn();
}

FamilySelector::Next FamilySelector::Hinted(const CellView& cell, Next next) {
  std::optional<filters::Place> place = filter_->Hint(cell);
  if (!place) return next;
  if (place->row != cell.row) {
    hint_ = std::move(*place);
    return Next::kHint;
  }
  if (place->family != cell.family) return place->family > cell.family ? Next::kFamily : next;
  if (place->qualifier <= cell.qualifier) return next;
  if (const Next behind = PassColumn(); behind == Next::kCell) return behind;
  hint_ = std::move(*place);
  return Next::kHint;
}

FamilySelector::Verdict FamilySelector::Ask(const CellView& cell, Next next) {
  if (filter_->Done()) return {false, Next::kFamily};
  const filters::Verdict said = filter_->Look(cell);
  switch (said.step) {
    case filters::Step::kNextCell: break;
    case filters::Step::kNextColumn: next = PassColumn(); break;
    case filters::Step::kNextRow: next = Next::kFamily; break;
    case filters::Step::kHint: next = Hinted(cell, next); break;
  }
  if (!said.take) return {false, next};
  // As in HBase: the request's limit counts the versions in the answer, and after a filter it also counts the markers
  // of a raw scan.
  if (++versions_ > query_->max_versions) return {false, next == Next::kFamily ? next : PassColumn()};
  return Take(next);
}

FamilySelector::Verdict FamilySelector::Look(const CellView& cell, std::optional<std::int64_t> ttl_ms) {
  if (query_->raw) return LookRaw(cell, ttl_ms);
  const auto [type, timestamp] = std::pair(cell.type, cell.timestamp);
  if (!wanted_ && !empty_column_) return {false, Next::kWantedColumn};
  const bool exists = puts_.Exists(type, timestamp, ttl_ms);
  if (!exists || !wanted_) return {false, puts_.ColumnIsOver() ? BehindColumn() : Next::kCell};
  if (timestamp < query_->range.from) return {false, BehindColumn()};
  Next next = puts_.ColumnIsOver() ? BehindColumn() : Next::kCell;
  if (!query_->range.Contains(timestamp)) return {false, next};
  if (passed_) return {false, BehindColumn()};
  if (filter_ != nullptr) return Ask(cell, next);
  if (versions_ >= query_->max_versions) return {false, BehindColumn()};
  if (++versions_ >= query_->max_versions) next = BehindColumn();
  return Take(next);
}

}  // namespace ratchet::regionserver
