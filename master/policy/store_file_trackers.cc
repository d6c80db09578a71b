#include "master/policy/store_file_trackers.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "master/cluster/errors.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kFrom = "hbase.store.file-tracker.migration.src.impl";
constexpr std::string_view kTo = "hbase.store.file-tracker.migration.dst.impl";
constexpr std::string_view kMigration = "MIGRATION";

struct Tracker {
  std::string name = "DEFAULT";
  std::string from;
  std::string to;
  [[nodiscard]] bool migrates() const { return name == kMigration; }
};

std::string InCapitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

void Take(const Attributes& settings, Tracker& tracker) {
  const auto take = [&settings](std::string_view key, std::string& out) {
    if (const auto found = settings.find(key); found != settings.end()) out = InCapitals(found->second);
  };
  take(kFileTrackerKey, tracker.name);
  take(kFrom, tracker.from);
  take(kTo, tracker.to);
}

// The attribute of the family overrides that of the table.
Tracker TrackerOf(const TableDescriptor& table, const FamilyDescriptor& family) {
  Tracker tracker;
  for (const Attributes* settings :
       {&table.configuration, &table.attributes, &family.attributes, &family.configuration})
    Take(*settings, tracker);
  return tracker;
}

bool IsPlaceToRest(std::string_view name) { return name == "DEFAULT" || name == "FILE"; }

std::string Of(const TableDescriptor& table, const FamilyDescriptor& family) {
  return fmt::format("family {} of table {}", family.name, table.name.ToString());
}

Status CheckOne(const TableDescriptor& table, const FamilyDescriptor& family) {
  const Tracker tracker = TrackerOf(table, family);
  if (!tracker.migrates()) {
    if (IsPlaceToRest(tracker.name)) return Ok();
    return IllegalRequest(fmt::format("{} => {} ({}): expected DEFAULT, FILE or MIGRATION", kFileTrackerKey,
                                      tracker.name, Of(table, family)));
  }
  for (const auto& [key, name] : {std::pair(kFrom, tracker.from), std::pair(kTo, tracker.to)}) {
    if (!IsPlaceToRest(name))
      return IllegalRequest(fmt::format("{} => {} ({}): a migration must change DEFAULT to FILE or FILE to DEFAULT",
                                        key, name, Of(table, family)));
  }
  if (tracker.from != tracker.to) return Ok();
  return IllegalRequest(fmt::format("{}: a migration from {} to {}", Of(table, family), tracker.from, tracker.to));
}

void Rest(Attributes& settings) {
  for (const std::string_view key : {kFrom, kTo, kFileTrackerKey}) {
    if (const auto found = settings.find(key); found != settings.end()) settings.erase(found);
  }
}

}  // namespace

Status CheckTrackers(const TableDescriptor& table) {
  for (const FamilyDescriptor& family : table.families) RATCHET_TRY(CheckOne(table, family));
  return Ok();
}

Status CheckNewTrackers(const TableDescriptor& table) {
  for (const FamilyDescriptor& family : table.families) {
    if (TrackerOf(table, family).migrates())
      return IllegalRequest(
          fmt::format("{} => MIGRATION ({}): a new table has nothing to migrate", kFileTrackerKey, Of(table, family)));
  }
  return Ok();
}

Status CheckTrackerChange(const TableDescriptor& before, const TableDescriptor& after) {
  for (const FamilyDescriptor& family : after.families) {
    const FamilyDescriptor* const old_family = before.Family(family.name);
    if (old_family == nullptr) continue;
    const Tracker old = TrackerOf(before, *old_family);
    const Tracker now = TrackerOf(after, family);
    const auto refuse = [&](std::string_view why) {
      return IllegalRequest(fmt::format("{} => {} ({}, where it is {}): {}", kFileTrackerKey, now.name,
                                        Of(after, family), old.name, why));
    };
    if (old.migrates() && now.migrates() && (old.from != now.from || old.to != now.to))
      return refuse("a running migration cannot change its target");
    if (old.migrates() && !now.migrates() && now.name != old.to) return refuse("the migration leads to " + old.to);
    if (!old.migrates() && now.migrates() && now.from != old.name) return refuse("the migration is from " + now.from);
    if (!old.migrates() && !now.migrates() && old.name != now.name)
      return refuse("by MIGRATION, or by ModifyTableStoreFileTracker and ModifyColumnStoreFileTracker");
  }
  return Ok();
}

Result<TableDescriptor> WithTracker(const TableDescriptor& now, const std::optional<std::string>& family,
                                    const std::string& tracker) {
  const std::string name = InCapitals(tracker);
  if (!IsPlaceToRest(name))
    return IllegalRequest(
        fmt::format("unknown store file tracker {}: expected DEFAULT or FILE", tracker.empty() ? "''" : tracker));
  TableDescriptor changed = now;
  if (!family) {
    Rest(changed.configuration);
    Rest(changed.attributes);
    changed.attributes.insert_or_assign(std::string(kFileTrackerKey), name);
    return changed;
  }
  const auto found = std::find_if(changed.families.begin(), changed.families.end(),
                                  [&family](const FamilyDescriptor& each) { return each.name == *family; });
  if (found == changed.families.end()) return NoSuchFamily(now.name, *family);
  Rest(found->attributes);
  Rest(found->configuration);
  found->configuration.insert_or_assign(std::string(kFileTrackerKey), name);
  return changed;
}

}  // namespace ratchet::master
