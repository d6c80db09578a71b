// TableDirectory: the master's picture of every table: state, schema, directory. Loaded from hbase:meta and the
// descriptor files; changed by table procedures after the change is durable in meta. hbase:meta itself is always in it.
//
// It also knows which procedure had its turn last with each table, and gives the numbers of changes of tables' rows
// (S69). Thread-safe; methods copy.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/region_state.h"
#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"

namespace ratchet::master {

struct TableNode {
  TableName name;
  TableState state = TableState::kEnabled;
  std::string directory;                          // below <root>/data
  std::shared_ptr<const TableDescriptor> schema;  // null: it cannot be read (S68), for this reason:
  std::string schema_error;
  bool schema_awaited = false;   // the storage refused at this time; nothing says that the file is bad
  std::uint64_t descriptor = 0;  // the schema's number: the higher one of two is the newer one (S48)
  std::uint64_t transition = 0;
};

// The table procedure that had its turn last. Rebuilt after a restart from the unfinished ones.
struct TableTurn {
  ProcId pid;
  std::uint64_t transition = 0;  // of its first change
  bool deletes = false;          // no other one may have its turn before this one has ended
};

// How many changes of a table's row one procedure makes at most.
inline constexpr std::uint64_t kTableChanges = 4;

class TableDirectory {
 public:
  TableDirectory();
  [[nodiscard]] std::optional<TableNode> Get(const TableName& table) const;
  [[nodiscard]] bool Exists(const TableName& table) const;
  [[nodiscard]] std::vector<TableNode> List() const;  // by name, hbase:meta included
  // Only those that are ENABLING or DISABLING or have no schema; only those that are DISABLED.
  [[nodiscard]] std::vector<TableNode> Unsettled() const;
  [[nodiscard]] std::vector<TableName> Disabled() const;
  // Keeps a newer schema of the same directory.
  void Put(TableNode node);
  void Remove(const TableName& table);
  // Only while the table is still the one in `directory`; a lower `number` than the one that is known changes nothing
  // (S48).
  void SetSchema(const TableName& table, const std::string& directory, std::shared_ptr<const TableDescriptor> schema,
                 std::uint64_t number);

  // S69. A procedure's turn has come, under its lock: the number of its first change, above every one that any table's
  // row, or a procedure before it, has had in this life.
  std::uint64_t TakeTurn(const TableName& table, ProcId pid, bool deletes);
  // After a restart: of an unfinished procedure. The greatest number counts.
  void RestoreTurn(const TableName& table, const TableTurn& turn);
  // S48. The number of a table's next descriptor, to be called under the table's lock: above the present one and above
  // every one that was drawn before.
  std::uint64_t DrawDescriptor(const TableName& table);
  // After a restart: of an unfinished procedure.
  void RestoreDescriptor(const TableName& table, std::uint64_t number);
  [[nodiscard]] std::optional<TableTurn> LastTurn(const TableName& table) const;

 private:
  mutable Mutex mutex_;
  void Index(const TableNode& node) REQUIRES(mutex_);
  std::map<TableName, TableNode> tables_ GUARDED_BY(mutex_);
  std::set<TableName> unsettled_ GUARDED_BY(mutex_);
  std::set<TableName> disabled_ GUARDED_BY(mutex_);
  std::map<TableName, TableTurn> turns_ GUARDED_BY(mutex_);      // of tables that are there, or being made
  std::map<TableName, std::uint64_t> drawn_ GUARDED_BY(mutex_);  // the greatest number of a descriptor, in this life
  std::uint64_t greatest_ GUARDED_BY(mutex_) = 0;                // number of a change
};

}  // namespace ratchet::master
