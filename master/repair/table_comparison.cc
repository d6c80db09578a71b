#include "master/repair/table_comparison.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/procedures/claims_of.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/schema_reader.h"
#include "master/procedures/table/new_table.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

std::string KeyOf(const TableName& table) { return "table " + table.ToString(); }

std::string TextOf(TableState state, std::uint64_t transition) {
  return fmt::format("{} (transition {})", TableStateText(state), transition);
}

// Takes a table from hbase:meta, with its regions, before a client enables it. An operator ended the procedure that
// created the table while the write of its row was in progress.
void AdoptTable(MasterEnv& env, const TableRow& row, const std::vector<RegionRow>& regions) {
  for (const RegionRow& region : regions) {
    if (!env.regions.Get(region.region.encoded_name())) env.regions.Add(region);
  }
  TableNode table;
  table.name = row.table;
  table.state = row.state;
  table.directory = row.directory;
  table.transition = row.transition;
  ReadSchema(env, table);
  env.tables.Put(std::move(table));
}

// The next comparison finds rows of its regions, if any are left.
void ForgetTable(MasterEnv& env, const TableName& table) {
  const std::vector<RegionNode> nodes = env.regions.OfTable(table);
  if (std::any_of(nodes.begin(), nodes.end(), [](const RegionNode& node) { return node.owner.valid(); }))
    return;  // the next comparison tries again
  for (const RegionNode& node : nodes) env.regions.Remove(node.info.encoded_name());
  env.tables.Remove(table);
}

void JudgeTable(MasterEnv& env, const TableRow& row, const std::vector<RegionRow>& regions,
                Inconsistencies& inconsistencies) {
  const auto known = env.tables.Get(row.table);
  if (!known || known->directory != row.directory) {
    inconsistencies[KeyOf(row.table)] = {
        fmt::format("table {}, {} in {}, has a row and was unknown: added to memory", row.table.ToString(),
                    TextOf(row.state, row.transition), row.directory),
        [&env, row, regions] { AdoptTable(env, row, regions); }};
    return;
  }
  if (known->state == row.state && known->transition == row.transition) return;
  const std::string both = fmt::format("table {} is {} in hbase:meta and {} in memory", row.table.ToString(),
                                       TextOf(row.state, row.transition), TextOf(known->state, known->transition));
  if (row.transition > known->transition) {
    // The procedure that wrote the row was ended before it received the result of the write.
    inconsistencies[KeyOf(row.table)] = {both + ": taken from hbase:meta",
                                         [&env, row, regions] { AdoptTable(env, row, regions); }};
    return;
  }
  const MetaEdit edit =
      EditTable(MetaEdit::Kind::kUpdateTable, {known->name, known->state, known->directory, known->transition});
  inconsistencies[KeyOf(row.table)] = {both + ": row rewritten", [&env, edit] {
                                         env.meta.Write({edit}, [](const Status& status) {
                                           if (!status.ok())
                                             RATCHET_LOG(kWarn, "Reconciler: {}", status.error().ToString());
                                         });
                                       }};
}

}  // namespace

TablesInHand FindTablesInHand(const MasterEnv& env, const std::vector<TableCreations::Creation>& creations) {
  TablesInHand found;
  ForEachClaim(*env.executor, kClaimsTables, [&found](const Claims& claims) {
    found.directories.insert(claims.directories.begin(), claims.directories.end());
    for (const Claims::Table& table : claims.tables) {
      found.tables.insert(table.name);
      if (table.with_regions || RATCHET_MUTANT("reconciler.rows_of_the_enabled"))
        found.layouts[table.name] = table.directory;
    }
  });
  const auto add = [&found](const TableCreations::Creation& creation) {
    found.directories.insert(creation.directory);
    found.creations.insert(creation);
  };
  std::ranges::for_each(creations, add);
  std::ranges::for_each(env.creations.InFlight(), add);  // after the claims: no procedure ends in between unseen
  return found;
}

bool IsOfCreation(const RegionInfo& region, const TablesInHand& in_hand) {
  return std::ranges::any_of(in_hand.creations, [&region](const TableCreations::Creation& creation) {
    return creation.table == region.table && RegionIdFor(CreatorOf(creation.directory)) == region.region_id &&
           !RATCHET_MUTANT("reconciler.rows_of_the_new");
  });
}

bool LayoutIsInHand(const procedure::Executor& executor, const TableName& table) {
  bool in_hand = false;
  ForEachClaim(executor, kClaimsTables, [&](const Claims& claims) {
    for (const Claims::Table& other : claims.tables) in_hand = in_hand || (other.with_regions && other.name == table);
  });
  return in_hand;
}

std::vector<RegionInfo> RegionsOfReshapes(const procedure::Executor& executor) {
  std::vector<RegionInfo> regions;
  ForEachClaim(executor, kClaimsRegions, [&regions](const Claims& claims) {
    regions.insert(regions.end(), claims.regions.begin(), claims.regions.end());
  });
  return regions;
}

bool ReshapeIsInHand(const procedure::Executor& executor, const TableName& table) {
  const std::vector<RegionInfo> regions = RegionsOfReshapes(executor);
  return std::any_of(regions.begin(), regions.end(),
                     [&table](const RegionInfo& region) { return region.table == table; });
}

DirectoryOfTable FindDirectories(const MasterEnv& env, const MetaContents& contents, const TablesInHand& in_hand) {
  DirectoryOfTable directories;
  for (const TableRow& row : contents.tables) directories[row.table] = row.directory;
  for (const TableNode& table : env.tables.List()) {
    std::string& directory = directories[table.name];
    if (directory.empty() || in_hand.tables.contains(table.name)) directory = table.directory;
  }
  for (const auto& [table, directory] : in_hand.layouts) {
    if (!directory.empty()) directories[table] = directory;
  }
  return directories;
}

bool IsOfAnotherTable(const RegionInfo& region, std::uint64_t transition, const std::string& table_directory) {
  const ProcId creator = CreatorOf(table_directory);
  if (!creator.valid() || RATCHET_MUTANT("reconciler.any_incarnation")) return false;
  const std::uint64_t own = RegionIdFor(creator);
  return region.region_id < own || (transition <= kCreatedTransition && region.region_id != own);
}

std::string WhyLeft(const RegionInfo& region, std::uint64_t transition, const DirectoryOfTable& directories,
                    const TablesInHand& in_hand) {
  const auto layout = in_hand.layouts.find(region.table);
  if (layout != in_hand.layouts.end() && layout->second.empty()) return {};
  const auto directory = directories.find(region.table);
  if (directory == directories.end() && in_hand.tables.contains(region.table)) return {};
  if (directory == directories.end()) return fmt::format("table {} does not exist", region.table.ToString());
  if (!IsOfAnotherTable(region, transition, directory->second)) return {};
  return fmt::format("it belongs to another table {} than the one in {}", region.table.ToString(), directory->second);
}

namespace {

// Returns true if the table's row may change without this comparison: a procedure or a creation in flight writes it.
bool RowIsInHand(const TableName& table, const TablesInHand& in_hand) {
  return in_hand.tables.contains(table) ||
         std::ranges::any_of(in_hand.creations, [&table](const auto& creation) { return creation.table == table; });
}

}  // namespace

void JudgeTables(MasterEnv& env, const MetaContents& contents, const TablesInHand& in_hand,
                 Inconsistencies& inconsistencies) {
  std::map<TableName, std::vector<const RegionRow*>> regions_of;
  for (const RegionRow& region : contents.regions) regions_of[region.region.table].push_back(&region);
  std::set<TableName> rows;
  for (const TableRow& row : contents.tables) {
    rows.insert(row.table);
    if (RowIsInHand(row.table, in_hand) || row.table.IsMeta()) continue;
    std::vector<RegionRow> regions;
    for (const RegionRow* region : regions_of[row.table]) {
      if (!IsOfAnotherTable(region->region, region->transition, row.directory)) regions.push_back(*region);
    }
    JudgeTable(env, row, regions, inconsistencies);
  }
  for (const TableNode& table : env.tables.List()) {
    if (table.name.IsMeta() || RowIsInHand(table.name, in_hand) || rows.contains(table.name)) continue;
    inconsistencies[KeyOf(table.name)] = {fmt::format("table {}, {}, has no row in hbase:meta: removed from memory",
                                                      table.name.ToString(), TextOf(table.state, table.transition)),
                                          [&env, name = table.name] { ForgetTable(env, name); }};
  }
}

namespace {

// Returns the directories that no row, no in-memory table and no unfinished procedure names.
std::vector<std::string> UnnamedDirectories(const MasterEnv& env, const MetaContents& contents,
                                            const TablesInHand& in_hand, const std::vector<std::string>& directories) {
  std::set<std::string> named = in_hand.directories;
  for (const TableRow& row : contents.tables) named.insert(row.directory);
  for (const TableNode& table : env.tables.List()) named.insert(table.directory);
  std::vector<std::string> unnamed;
  for (const std::string& directory : directories) {
    if (!named.contains(directory) && !RATCHET_MUTANT("reconciler.leave_directories")) unnamed.push_back(directory);
  }
  return unnamed;
}

bool MayArchive(const MasterEnv& env, const std::string& directory) {
  const auto may_go = env.files.MayGo(directory);
  return (may_go.ok() && *may_go) || RATCHET_MUTANT("reconciler.rows_decide");
}

}  // namespace

void JudgeDirectories(MasterEnv& env, const MetaContents& contents, const TablesInHand& in_hand,
                      Inconsistencies& inconsistencies) {
  const auto directories = env.files.ListTableDirectories();
  if (!directories.ok()) {
    RATCHET_LOG(kWarn, "Reconciler: cannot list table directories: {}", directories.error().ToString());
    return;
  }
  for (const std::string& directory : UnnamedDirectories(env, contents, in_hand, *directories)) {
    const std::string key = "directory " + directory;
    if (!MayArchive(env, directory)) {
      inconsistencies[key] = {
          fmt::format("no row of hbase:meta names data/{}, and it has no mark of a drop, so it is kept. If "
                      "hbase:meta is an older copy, restore the newest one; otherwise create an empty file "
                      "{} in the directory, and it is archived",
                      directory, kDropByHand),
          {}};
      continue;
    }
    // The name is never reused (S31: names are never reused), so no procedure can start to need the directory.
    inconsistencies[key] = {
        fmt::format("directory {} belongs to no table: moved to the archive", directory), [&env, directory] {
          if (Status moved = env.files.ArchiveTableLayout(directory, env.executor->epoch()); !moved.ok()) {
            RATCHET_LOG(kWarn, "Reconciler: cannot move {} to the archive: {}", directory, moved.error().ToString());
          }
        }};
  }
}

std::optional<std::string> WhyRowsAreMissing(const MasterEnv& env, const MetaContents& contents) {
  const bool any = std::any_of(contents.tables.begin(), contents.tables.end(),
                               [](const TableRow& row) { return !row.table.IsMeta(); });
  if (any || RATCHET_MUTANT("reconciler.rows_decide")) return std::nullopt;
  const auto directories = env.files.ListTableDirectories();
  if (!directories.ok()) return std::nullopt;  // no directory is moved either
  for (const std::string& directory : *directories) {
    if (directory == TableDirectoryName(MetaTableName(), ProcId(1)) || MayArchive(env, directory)) continue;
    return fmt::format(
        "hbase:meta names no table, but data/{} exists: repairs by comparison with hbase:meta are off. Restore the "
        "newest data/hbase/meta.1",
        directory);
  }
  return std::nullopt;
}

}  // namespace ratchet::master
