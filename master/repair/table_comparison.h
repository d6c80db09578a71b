// Finds inconsistencies of tables for MetaComparison: differences between table rows in hbase:meta and the master's
// memory, rows of regions that no table needs, and directories that belong to no table (S66: table row last in, first
// out). Tables of unfinished procedures are skipped. Pure functions, except for the repairs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/table_name.h"
#include "master/cluster/table_creations.h"
#include "master/env/meta_table.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

struct MasterEnv;

// An inconsistency between two sources. It is repaired when it is found a second time.
struct Inconsistency {
  std::string what;
  std::function<void()> repair;  // empty: shown as a problem instead
};
using Inconsistencies =
    std::map<std::string, Inconsistency>;  // by encoded region name, "table <name>" or "directory <name>"

// Tables that unfinished procedures own. `tables`: tables that are being created, enabled, disabled, deleted or
// repaired; the procedure owns the table's row. `layouts`: tables that are being created, deleted, truncated or
// repaired; the procedure also owns the rows of the regions. The value is the directory that is made or removed, empty
// while rows under any id may be written. No procedure owns rows of an earlier table of the same name. The reason is
// that these procedures, except a repair that has begun, may wait for a repair, which waits until all rows are
// consistent (S95: repair counts certain rows). `creations`: tables whose row may be on its way to hbase:meta, also
// after their procedure has ended, S173 (only creations add table rows); `directories` has theirs too.
struct TablesInHand {
  std::set<TableName> tables;
  std::map<TableName, std::string> layouts;
  std::set<std::string> directories;
  std::set<TableCreations::Creation> creations;
};
// `creations`: those in flight before hbase:meta was read. Those in flight now are added.
[[nodiscard]] TablesInHand FindTablesInHand(const MasterEnv& env,
                                            const std::vector<TableCreations::Creation>& creations);
// Returns true if the region belongs to a table whose row may be on its way.
[[nodiscard]] bool IsOfCreation(const RegionInfo& region, const TablesInHand& in_hand);
// Returns true if an unfinished procedure makes or removes directories and regions of this table.
[[nodiscard]] bool LayoutIsInHand(const procedure::Executor& executor, const TableName& table);

// Returns the parents and children of unfinished splits and merges.
[[nodiscard]] std::vector<RegionInfo> RegionsOfReshapes(const procedure::Executor& executor);
// Returns true if an unfinished split or merge makes or removes region directories of this table.
[[nodiscard]] bool ReshapeIsInHand(const procedure::Executor& executor, const TableName& table);

// Directory of each table: from hbase:meta, else from memory; for tables that a procedure owns, from the procedure or
// memory.
using DirectoryOfTable = std::map<TableName, std::string>;
[[nodiscard]] DirectoryOfTable FindDirectories(const MasterEnv& env, const MetaContents& contents,
                                               const TablesInHand& in_hand);

// Returns true if the region belongs to another table of the same name than the one in `table_directory`: to an earlier
// table, or to one whose creation failed. A region's id is never below its table's id, and a row that still is as its
// creation wrote it belongs to the table of its id.
[[nodiscard]] bool IsOfAnotherTable(const RegionInfo& region, std::uint64_t transition,
                                    const std::string& table_directory);

// Returns why no table needs this region; empty if its table exists or may still be created.
[[nodiscard]] std::string WhyLeft(const RegionInfo& region, std::uint64_t transition,
                                  const DirectoryOfTable& directories, const TablesInHand& in_hand);

// `contents`: of hbase:meta. Lists directories: blocks for a few file operations.
void JudgeTables(MasterEnv& env, const MetaContents& contents, const TablesInHand& in_hand,
                 Inconsistencies& inconsistencies);
void JudgeDirectories(MasterEnv& env, const MetaContents& contents, const TablesInHand& in_hand,
                      Inconsistencies& inconsistencies);

// S115 (missing row is not evidence): returns why repairs must not follow this hbase:meta: it names no table, although
// data/ has a table that no mark allows to remove.
[[nodiscard]] std::optional<std::string> WhyRowsAreMissing(const MasterEnv& env, const MetaContents& contents);

}  // namespace ratchet::master
