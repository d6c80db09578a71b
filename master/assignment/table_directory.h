// TableDirectory: the master's picture of every table: state, schema, directory. Loaded from hbase:meta and the descriptor
// files; changed by table procedures after the change is durable in meta. hbase:meta itself is always in it.
// Thread-safe; methods copy.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/table_descriptor.h"
#include "common/model/region_state.h"
#include "common/model/table_name.h"

namespace ratchet::master {

struct TableNode {
  TableName name;
  TableState state = TableState::kEnabled;
  std::string directory;                             // below <root>/data
  std::shared_ptr<const TableDescriptor> schema;     // never null
  std::uint64_t transition = 0;
};

class TableDirectory {
 public:
  TableDirectory();
  [[nodiscard]] std::optional<TableNode> Get(const TableName& table) const;
  [[nodiscard]] bool Exists(const TableName& table) const;
  [[nodiscard]] std::vector<TableNode> List() const;  // by name, hbase:meta included
  void Put(TableNode node);
  void Remove(const TableName& table);

 private:
  mutable Mutex mutex_;
  std::map<TableName, TableNode> tables_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
