// TableSurvey: compares each table's regions in memory with its region directories and with the keys that it has, table
// after table (S85: move unnamed directories only if rows are complete).
//
//  - A directory of a region that no record names is moved to quarantine, if the table's regions cover every key.
//    Otherwise it is shown, because the row of that region may be what is missing.
//  - A region or a table without a directory is shown, with the commands that repair it. Such a region never opens.
//  - Keys that no region or several regions have are shown, with the commands that repair them.
//
// A finding is shown or repaired only after two checks of the table have found it. Tables that an unfinished procedure
// creates, deletes or repairs are skipped. Each call checks one table. The next check waits fifty times as long as the
// last one took, so the survey uses at most a fiftieth of a thread for any number of tables and regions. Thread-safe;
// blocks for the listing of one directory.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/table_name.h"

namespace ratchet::master {

struct MasterEnv;
struct TableNode;

class TableSurvey {
 public:
  using Note = std::function<void(const std::string& encoded, std::string what)>;
  // `note`: called for every repair.
  TableSurvey(MasterEnv& env, Note note) : env_(env), note_(std::move(note)) {}

  // Checks the next table, unless the last check is too recent.
  void LookAtNext();
  // Checks every table once, for an operator.
  void LookAtAll();
  // Problems that two checks found and that are not repaired. At most kShown.
  [[nodiscard]] std::vector<std::string> Problems() const;

  static constexpr std::size_t kShown = 100;  // for all tables together
  static constexpr std::size_t kShownPerTable = 10;

 private:
  struct Found {
    std::set<std::string> problems;  // descriptions
    std::set<std::string> unknown;   // encoded names of directories
  };
  // Returns all tables except hbase:meta, by name, and forgets the findings of tables that are gone.
  [[nodiscard]] std::vector<TableNode> Tables();
  void Look(const TableNode& table);
  [[nodiscard]] Found Judge(const TableNode& table) const;
  void QuarantineUnknown(const TableNode& table, const std::set<std::string>& twice);

  MasterEnv& env_;
  const Note note_;
  mutable Mutex mutex_;
  TableName last_ GUARDED_BY(mutex_);  // the last table that was checked
  TimePoint next_ GUARDED_BY(mutex_){};
  std::map<TableName, Found> before_ GUARDED_BY(mutex_);  // findings of the last check, for tables that exist
  std::map<TableName, std::vector<std::string>> shown_ GUARDED_BY(mutex_);  // only tables with problems
};

}  // namespace ratchet::master
