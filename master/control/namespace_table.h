// NamespaceTable: hbase:namespace, for clients that look there. One row for each namespace, column info:d, its
// description as HBase writes it.
//
// The master's record is what counts (namespace_directory.h); the table follows it. It is made with the first namespace
// besides `default` and `hbase`, a change is there within a few ticks, and what another writer has put there, or a
// deposed master, is put right with a later look. Thread-safe; never blocks.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"
#include "master/env/system_table.h"

namespace ratchet::master {

struct MasterEnv;

[[nodiscard]] const TableName& NamespaceTableName();
[[nodiscard]] TableDescriptor NamespaceTableDescriptor();

class NamespaceTable {
 public:
  static constexpr Millis kLookAgain{60'000};        // though nothing has changed
  static constexpr std::size_t kMostAtOnce = 1'000;  // changes of one look; the next one goes on

  explicit NamespaceTable(MasterEnv& env) : env_(env) {}
  // Call every second.
  void Tick();

 private:
  using Rows = std::map<std::string, std::string>;  // by name
  struct Change {
    SystemCell cell;
    SystemTable::Value before;
    SystemTable::Value after;
  };
  [[nodiscard]] Rows Wanted() const;
  void MakeTable();
  void Follow(Rows wanted);
  void Apply(const std::shared_ptr<std::vector<Change>>& changes, std::size_t next, Rows wanted);
  // `wanted`: what the table holds now.
  void End(const Result<Rows>& wanted);

  MasterEnv& env_;
  Mutex mutex_;
  bool working_ GUARDED_BY(mutex_) = false;
  Rows held_ GUARDED_BY(mutex_);         // by the table when it was looked at last
  TimePoint next_ GUARDED_BY(mutex_){};  // look, if nothing changes
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
