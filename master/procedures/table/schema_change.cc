#include "master/procedures/table/schema_change.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/policy/store_file_trackers.h"
#include "master/policy/table_sanity.h"

namespace ratchet::master {
namespace {

std::string Of(const Attributes& attributes, std::string_view key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? std::string() : found->second;
}

std::vector<FamilyDescriptor>::iterator Find(TableDescriptor& table, const std::string& family) {
  return std::find_if(table.families.begin(), table.families.end(),
                      [&family](const FamilyDescriptor& candidate) { return candidate.name == family; });
}

Status ChangeFamily(TableDescriptor& table, ChangeKind kind, const FamilyDescriptor& family) {
  const auto found = Find(table, family.name);
  const bool there = found != table.families.end();
  switch (kind) {
    case ChangeKind::kAddFamily:
      if (there) {
        return InvalidFamily(fmt::format("Column family '{}' in table '{}' already exists so cannot be added",
                                         family.name, table.name.ToString()));
      }
      table.families.push_back(family);
      std::sort(table.families.begin(), table.families.end(),
                [](const FamilyDescriptor& a, const FamilyDescriptor& b) { return a.name < b.name; });
      return Ok();
    case ChangeKind::kModifyFamily:
      if (!there)
        return InvalidFamily(fmt::format("Family '{}' does not exist, so it cannot be modified", family.name));
      *found = family;
      return Ok();
    default: break;
  }
  if (!there) return InvalidFamily(fmt::format("Family '{}' does not exist, so it cannot be deleted", family.name));
  if (table.families.size() == 1) {
    return InvalidFamily(
        fmt::format("Family '{}' is the only column family in the table, so it cannot be deleted", family.name));
  }
  table.families.erase(found);
  return Ok();
}

}  // namespace

SchemaChange TrackerChange(const TableName& table, const std::optional<std::string>& family,
                           const std::string& tracker) {
  SchemaChange change;
  change.kind = family ? ChangeKind::kFamilyTracker : ChangeKind::kTableTracker;
  change.asked.name = table;
  change.asked.attributes[std::string(kFileTrackerKey)] = tracker;
  if (family) change.asked.attributes[std::string(kTrackerFamilyKey)] = *family;
  return change;
}

Result<TableDescriptor> ChangedDescriptor(const TableDescriptor& now, const SchemaChange& change, bool sanity_checks) {
  TableDescriptor table = now;
  if (change.kind == ChangeKind::kWhole) {
    if (change.asked.name != now.name) {
      return IllegalRequest(
          fmt::format("the new descriptor names table {}, not {}", change.asked.name.ToString(), now.name.ToString()));
    }
    table = change.asked;
    // HBase's master adds this attribute; clients may omit it.
    if (const auto kept = now.attributes.find(kFileTrackerKey); kept != now.attributes.end())
      table.attributes.insert(*kept);
  } else if (IsOfTrackers(change.kind)) {
    const auto family = change.kind == ChangeKind::kFamilyTracker
                            ? std::optional(Of(change.asked.attributes, kTrackerFamilyKey))
                            : std::nullopt;
    RATCHET_ASSIGN(table, WithTracker(now, family, Of(change.asked.attributes, kFileTrackerKey)));
  } else {
    if (change.asked.families.size() != 1) return IllegalRequest("the request names no column family");
    RATCHET_TRY(ChangeFamily(table, change.kind, change.asked.families.front()));
  }
  if (Status sound = table.Check(); !sound.ok()) return IllegalRequest(sound.error().message());
  RATCHET_TRY(CheckTableSettings(table, sanity_checks));
  RATCHET_TRY(CheckTrackers(table));
  if (!IsOfTrackers(change.kind)) RATCHET_TRY(CheckTrackerChange(now, table));
  return table;
}

void SetFamilyIds(const TableDescriptor& now, ProcId by, TableDescriptor& changed) {
  changed.dropped = now.dropped;
  for (const FamilyDescriptor& family : now.families) {
    if (changed.Family(family.name) == nullptr) changed.dropped.insert(family.name);
  }
  for (FamilyDescriptor& family : changed.families) {
    const FamilyDescriptor* const before = now.Family(family.name);
    family.added_by = before != nullptr ? before->added_by : 0;
    if (changed.dropped.erase(family.name) > 0 && !RATCHET_MUTANT("master.same_family")) family.added_by = by.value();
  }
}

std::string DescribeChange(const SchemaChange& change) {
  const std::string family = change.asked.families.empty() ? "?" : change.asked.families.front().name;
  switch (change.kind) {
    case ChangeKind::kWhole: return "replaces the descriptor";
    case ChangeKind::kAddFamily: return "adds family " + family;
    case ChangeKind::kModifyFamily: return "changes family " + family;
    case ChangeKind::kDeleteFamily: return "deletes family " + family;
    case ChangeKind::kTableTracker: return "changes the store file tracker";
    case ChangeKind::kFamilyTracker:
      return "changes the store file tracker of family " + Of(change.asked.attributes, kTrackerFamilyKey);
  }
  return "?";
}

}  // namespace ratchet::master
