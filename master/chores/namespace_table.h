// NamespaceTable: hbase:namespace, for clients that read it. One row for each namespace; column info:d has its
// descriptor in HBase's format.
//
// The master's records are authoritative (namespace_directory.h); the table follows them. It is created with the first
// namespace other than `default` and `hbase`. Thread-safe; never blocks.
#pragma once

#include "common/base/clock.h"
#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"
#include "master/chores/following_table.h"

namespace ratchet::master {

struct MasterEnv;

[[nodiscard]] const TableName& NamespaceTableName();
[[nodiscard]] TableDescriptor NamespaceTableDescriptor();

class NamespaceTable {
 public:
  static constexpr Millis kLookAgain = FollowingTable::kLookAgain;

  explicit NamespaceTable(MasterEnv& env);
  // Call every second.
  void Tick();

 private:
  MasterEnv& env_;
  FollowingTable table_;
};

}  // namespace ratchet::master
