// AclTable: hbase:acl, for clients that read it, in HBase's form: one row for everything, each namespace and each
// table; a qualifier of family `l` is user[,family[,qualifier]], and its value the letters of the actions.
//
// The master's records are authoritative (rights_book.h), and nothing reads the table to decide. It is created with the
// first right. Thread-safe; never blocks.
#pragma once

#include <memory>

#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"
#include "master/chores/following_table.h"
#include "master/env/system_table.h"

namespace ratchet::master {

struct MasterEnv;

inline constexpr const char* kAclFamily = "l";
[[nodiscard]] TableDescriptor AclTableDescriptor();

class AclTable {
 public:
  AclTable(MasterEnv& env, SystemTable& cells);
  // Call every second.
  void Tick() { table_.Tick(&cells_); }

 private:
  SystemTable& cells_;
  FollowingTable table_;
};

}  // namespace ratchet::master
