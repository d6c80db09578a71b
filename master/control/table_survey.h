// TableSurvey: compares each table's regions in memory with its region directories and with the keys that it has, table
// after table (S85).
//
//  - a directory of a region that no record names: moved to quarantine, where each key of the table has a region; shown
//  otherwise,
//    because the row of that region may be what is missing;
//  - a region without a directory, a table without a directory: shown, with the verbs that mend it. Such a region never
//  opens;
//  - keys that no region has, or several: shown, with the verbs that mend it.
//
// Nothing is said or done before two looks at the same table have found it. What an unfinished procedure creates,
// deletes or mends is left to it. Each call looks at one table, and then not again before fifty times as long as that
// look took has passed, so that it takes a fiftieth of a thread at most, however many tables and regions there are.
// Thread-safe; blocks for the listing of one directory.
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
  // `note`: told of every repair.
  TableSurvey(MasterEnv& env, Note note) : env_(env), note_(std::move(note)) {}

  // Looks at the table whose turn it is, unless the last look is too recent.
  void LookAtNext();
  // Looks at every table, once: an operator has asked.
  void LookAtAll();
  // What two looks have found and nothing has mended. At most kShown.
  [[nodiscard]] std::vector<std::string> Problems() const;

  static constexpr std::size_t kShown = 100;  // of all tables
  static constexpr std::size_t kShownPerTable = 10;

 private:
  struct Found {
    std::set<std::string> problems;  // texts
    std::set<std::string> unknown;   // encoded names of directories
  };
  // All but hbase:meta, by name; what was found about others is forgotten.
  [[nodiscard]] std::vector<TableNode> Tables();
  void Look(const TableNode& table);
  [[nodiscard]] Found Judge(const TableNode& table) const;
  void QuarantineUnknown(const TableNode& table, const std::set<std::string>& twice);

  MasterEnv& env_;
  const Note note_;
  mutable Mutex mutex_;
  TableName last_ GUARDED_BY(mutex_);  // the one that was looked at last
  TimePoint next_ GUARDED_BY(mutex_){};
  std::map<TableName, Found> before_ GUARDED_BY(mutex_);  // by the last look, of tables that are there
  std::map<TableName, std::vector<std::string>> shown_ GUARDED_BY(mutex_);  // only tables with problems
};

}  // namespace ratchet::master
