#include "master/assignment/table_directory.h"

#include <utility>

#include "common/base/mutant.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

std::string TableDirectoryName(const TableName& table, ProcId creator) {
  if (RATCHET_MUTANT("master.reuse_directory")) creator = ProcId(1);
  return table.ns + "/" + table.qualifier + "." + std::to_string(creator.value());
}

TableDirectory::TableDirectory() {
  TableNode meta;
  meta.name = MetaTableName();
  meta.directory = TableDirectoryName(MetaTableName(), ProcId(1));
  meta.schema = std::make_shared<const TableDescriptor>(MetaTableDescriptor());
  tables_.emplace(meta.name, meta);
}

std::optional<TableNode> TableDirectory::Get(const TableName& table) const {
  const MutexLock lock(mutex_);
  const auto it = tables_.find(table);
  if (it == tables_.end()) return std::nullopt;
  return it->second;
}

bool TableDirectory::Exists(const TableName& table) const {
  const MutexLock lock(mutex_);
  return tables_.contains(table);
}

std::vector<TableNode> TableDirectory::List() const {
  const MutexLock lock(mutex_);
  std::vector<TableNode> all;
  for (const auto& [name, node] : tables_) all.push_back(node);
  return all;
}

void TableDirectory::Put(TableNode node) {
  const MutexLock lock(mutex_);
  tables_.insert_or_assign(node.name, std::move(node));
}

void TableDirectory::Remove(const TableName& table) {
  const MutexLock lock(mutex_);
  tables_.erase(table);
}

}  // namespace ratchet::master
