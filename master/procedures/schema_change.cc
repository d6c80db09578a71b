#include "master/procedures/schema_change.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/state/errors.h"
#include "master/state/table_sanity.h"

namespace ratchet::master {
namespace {

constexpr const char* kFileTracker =
    "hbase.store.file-tracker.impl";  // HBase's master adds it; clients may leave it out

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

Result<TableDescriptor> ChangedDescriptor(const TableDescriptor& now, const SchemaChange& change, bool sanity_checks) {
  TableDescriptor table = now;
  if (change.kind == ChangeKind::kWhole) {
    if (change.asked.name != now.name) {
      return IllegalRequest(fmt::format("the new descriptor is of table {}, not of {}", change.asked.name.ToString(),
                                        now.name.ToString()));
    }
    table = change.asked;
    if (const auto kept = now.attributes.find(kFileTracker); kept != now.attributes.end())
      table.attributes.insert(*kept);
  } else {
    if (change.asked.families.size() != 1) return IllegalRequest("the request names no column family");
    RATCHET_TRY(ChangeFamily(table, change.kind, change.asked.families.front()));
  }
  if (Status sound = table.Check(); !sound.ok()) return IllegalRequest(sound.error().message());
  RATCHET_TRY(CheckTableSettings(table, sanity_checks));
  return table;
}

void TellFamiliesApart(const TableDescriptor& now, ProcId by, TableDescriptor& changed) {
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
  }
  return "?";
}

}  // namespace ratchet::master
