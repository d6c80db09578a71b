// What MetaComparison finds wrong with tables: rows of tables in hbase:meta against the master's memory, regions' rows
// that no table needs any more, and table directories that belong to no table (S66). What an unfinished procedure
// creates, enables, disables or deletes is left to it. Functions of what they are given, apart from the repairs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/model/table_name.h"
#include "master/env/meta_table.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

struct MasterEnv;

// Something that two pictures of the cluster say differently. Acted on when it is found a second time.
struct Doubt {
  std::string what;
  std::function<void()> repair;
};
using Doubts = std::map<std::string, Doubt>;  // by encoded region name, "table <name>" or "directory <name>"

// What unfinished procedures work on. `tables`: created, enabled, disabled, deleted or mended now, so the table's own
// row is theirs. `layouts`: created, deleted, truncated or mended, so the rows of its regions are theirs too; the value
// is the directory of the table that is made or removed, empty while rows under any id may be written. Rows of an
// earlier table of that name are no procedure's work: each of these but a mend that has begun may wait for a mend,
// which waits until all rows are put right (S95).
struct TablesInHand {
  std::set<TableName> tables;
  std::map<TableName, std::string> layouts;
  std::set<std::string> directories;
};
[[nodiscard]] TablesInHand FindTablesInHand(const procedure::Executor& executor);
// An unfinished procedure makes or removes this table's directories and regions. Every type that does must be named
// there.
[[nodiscard]] bool LayoutIsInHand(const procedure::Executor& executor, const TableName& table);

// An unfinished split or merge makes or removes directories of regions of this table.
[[nodiscard]] bool ReshapeIsInHand(const procedure::Executor& executor, const TableName& table);
// An unfinished split or merge has the region as a parent or as a child.
[[nodiscard]] bool IsOfAReshape(const procedure::Executor& executor, const RegionInfo& region);

// Tables' directories, as hbase:meta names them, and memory where hbase:meta does not; of tables in hand, as the
// procedure or memory has them.
using DirectoryOfTable = std::map<TableName, std::string>;
[[nodiscard]] DirectoryOfTable FindDirectories(const MasterEnv& env, const MetaContents& contents,
                                               const TablesInHand& in_hand);

// The region is of another table of the same name than the one in `table_directory`, of an earlier one or of one that
// never came to be: a region's id is not below its table's, and a row that is as a creation wrote it is of the table of
// its id.
[[nodiscard]] bool IsOfAnotherTable(const RegionInfo& region, std::uint64_t transition,
                                    const std::string& table_directory);

// Why no table needs this region; empty: its table is there, or may come yet.
[[nodiscard]] std::string WhyLeft(const RegionInfo& region, std::uint64_t transition,
                                  const DirectoryOfTable& directories, const TablesInHand& in_hand);

// `contents`: of hbase:meta. The files are listed here: blocks for a few file operations.
void JudgeTables(MasterEnv& env, const MetaContents& contents, const TablesInHand& in_hand, Doubts& doubts);
void JudgeDirectories(MasterEnv& env, const MetaContents& contents, const TablesInHand& in_hand, Doubts& doubts);

}  // namespace ratchet::master
