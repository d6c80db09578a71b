// TableDirectory: the master's in-memory state of every table: state, schema, directory. Loaded from hbase:meta and the
// descriptor files; changed by table procedures after the change is durable in meta. hbase:meta itself is always in it.
//
// It also records the last procedure that got each table's lock (LastLockGrant), and issues the numbers of
// changes of tables' rows (S69: lock-grant order decides). Thread-safe; methods copy.
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
  std::string directory;  // below <root>/data
  // null if it cannot be read (S68: unreadable schema is an error); the next field has the reason
  std::shared_ptr<const TableDescriptor> schema;
  std::string schema_error;
  bool schema_awaited = false;      // a transient storage error; the file may be valid
  std::uint64_t schema_number = 0;  // the schema's number: a higher number is newer (S48: schema pinned in the order)
  std::uint64_t transition = 0;
};

// The last table procedure that got the table's lock. Rebuilt after a restart from the unfinished procedures.
struct TableLockGrant {
  ProcId pid;
  std::uint64_t transition = 0;  // number of its first change
  bool deletes = false;          // no other procedure may get its lock grant before this one has ended
};

// Maximum number of changes of a table's row by one procedure.
inline constexpr std::uint64_t kTableChanges = 4;

class TableDirectory {
 public:
  TableDirectory();
  [[nodiscard]] std::optional<TableNode> Get(const TableName& table) const;
  [[nodiscard]] bool Exists(const TableName& table) const;
  [[nodiscard]] std::vector<TableNode> List() const;  // by name, hbase:meta included
  // Unsettled: tables that are ENABLING or DISABLING or have no schema. Disabled: tables that are DISABLED.
  [[nodiscard]] std::vector<TableNode> Unsettled() const;
  [[nodiscard]] std::vector<TableName> Disabled() const;
  // Replaces the node, but keeps a newer schema of the same directory.
  void Put(TableNode node);
  void Remove(const TableName& table);
  // Has no effect if the table is no longer the one in `directory`, or if `number` is lower than the known one (S48:
  // schema pinned in the order).
  void SetSchema(const TableName& table, const std::string& directory, std::shared_ptr<const TableDescriptor> schema,
                 std::uint64_t number);

  // S69: records a procedure's lock grant; call under the lock. Returns the number of its first change, which is above
  // every number that any table's row or earlier procedure has had in this process.
  std::uint64_t RecordLockGrant(const TableName& table, ProcId pid, bool deletes);
  // Restores the lock grant of an unfinished procedure after a restart. The greatest number wins.
  void RestoreLockGrant(const TableName& table, const TableLockGrant& grant);
  // S48: returns the number of a table's next descriptor, above the current one and every number drawn before. Call
  // under the table's lock.
  std::uint64_t DrawDescriptor(const TableName& table);
  // Restores the number drawn by an unfinished procedure after a restart.
  void RestoreDescriptor(const TableName& table, std::uint64_t number);
  [[nodiscard]] std::optional<TableLockGrant> LastLockGrant(const TableName& table) const;

 private:
  mutable Mutex mutex_;
  void Index(const TableNode& node) REQUIRES(mutex_);
  std::map<TableName, TableNode> tables_ GUARDED_BY(mutex_);
  std::set<TableName> unsettled_ GUARDED_BY(mutex_);
  std::set<TableName> disabled_ GUARDED_BY(mutex_);
  std::map<TableName, TableLockGrant> lock_grants_ GUARDED_BY(mutex_);  // of tables that exist or are being created
  // greatest descriptor number of each table in this process
  std::map<TableName, std::uint64_t> drawn_ GUARDED_BY(mutex_);
  std::uint64_t greatest_ GUARDED_BY(mutex_) = 0;  // greatest number of a change
};

}  // namespace ratchet::master
