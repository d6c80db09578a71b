// NamespaceTable: hbase:namespace, for clients that read it. One row for each namespace; column info:d has its
// descriptor in HBase's format.
//
// The master's records are authoritative (namespace_directory.h); the table follows them. It is created with the first
// namespace other than `default` and `hbase`. A change appears within a few ticks, and a later check repairs rows of
// other writers and of deposed masters. Thread-safe; never blocks.
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
  static constexpr Millis kLookAgain{60'000};        // also without a known change
  static constexpr std::size_t kMostAtOnce = 1'000;  // changes of one check; the next check continues

  explicit NamespaceTable(MasterEnv& env) : env_(env) {}
  // Call every second.
  void Tick();

 private:
  using Rows = std::map<std::string, std::string>;  // namespace name -> descriptor
  struct Change {
    SystemCell cell;
    SystemTable::Value before;
    SystemTable::Value after;
  };
  [[nodiscard]] Rows Wanted() const;
  void MakeTable();
  void Follow(Rows wanted);
  void Apply(const std::shared_ptr<std::vector<Change>>& changes, std::size_t next, Rows wanted);
  // `wanted`: the current rows of the table.
  void End(const Result<Rows>& wanted);

  MasterEnv& env_;
  Mutex mutex_;
  bool working_ GUARDED_BY(mutex_) = false;
  Rows held_ GUARDED_BY(mutex_);         // rows of the table at the last check
  TimePoint next_ GUARDED_BY(mutex_){};  // look, if nothing changes
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
