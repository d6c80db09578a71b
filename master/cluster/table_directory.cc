#include "master/cluster/table_directory.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

std::string TableDirectoryName(const TableName& table, ProcId creator) {
  const std::uint64_t id = RATCHET_MUTANT("master.reuse_directory") ? 1 : creator.value();
  return table.ns + "/" + table.qualifier + "." + std::to_string(id);
}

ProcId CreatorOf(const std::string& table_directory) {
  const std::size_t dot = table_directory.rfind('.');
  std::uint64_t pid = 0;
  if (dot == std::string::npos) return {};
  const char* const end = table_directory.data() + table_directory.size();
  const auto [last, error] = std::from_chars(table_directory.data() + dot + 1, end, pid);
  return error == std::errc() && last == end ? ProcId(pid) : ProcId();
}

namespace {

// Returns true if `node` was copied before the table got a newer descriptor (S48: schema pinned in the order).
bool IsOlder(const TableNode& node, const TableNode& known) {
  return known.schema != nullptr && known.directory == node.directory && node.schema_number < known.schema_number &&
         !RATCHET_MUTANT("master.schema_goes_back");
}

}  // namespace

TableDirectory::TableDirectory() {
  TableNode meta;
  meta.name = MetaTableName();
  meta.directory = TableDirectoryName(MetaTableName(), ProcId(1));
  meta.schema_number = 1;
  meta.schema = std::make_shared<const TableDescriptor>(MetaTableDescriptor());
  tables_.emplace(meta.name, meta);
}

std::optional<TableNode> TableDirectory::Get(const TableName& table) const {
  const PartLock lock(mutex_);
  const auto it = tables_.find(table);
  if (it == tables_.end()) return std::nullopt;
  return it->second;
}

bool TableDirectory::Exists(const TableName& table) const {
  const PartLock lock(mutex_);
  return tables_.contains(table);
}

std::vector<TableNode> TableDirectory::List() const {
  const PartLock lock(mutex_);
  std::vector<TableNode> all;
  for (const auto& [name, node] : tables_) all.push_back(node);
  return all;
}

std::vector<TableNode> TableDirectory::Unsettled() const {
  const PartLock lock(mutex_);
  std::vector<TableNode> found;
  for (const TableName& name : unsettled_) found.push_back(tables_.find(name)->second);
  return found;
}

std::vector<TableName> TableDirectory::Disabled() const {
  const PartLock lock(mutex_);
  return {disabled_.begin(), disabled_.end()};
}

void TableDirectory::Index(const TableNode& node) {
  const bool settled =
      node.schema != nullptr && (node.state == TableState::kEnabled || node.state == TableState::kDisabled);
  if (settled) {
    unsettled_.erase(node.name);
  } else {
    unsettled_.insert(node.name);
  }
  if (node.state == TableState::kDisabled) {
    disabled_.insert(node.name);
  } else {
    disabled_.erase(node.name);
  }
}

void TableDirectory::Put(TableNode node) {
  const PartLock lock(mutex_);
  const auto known = tables_.find(node.name);
  if (known != tables_.end() && IsOlder(node, known->second)) {
    node.schema = known->second.schema;
    node.schema_number = known->second.schema_number;
    node.schema_error.clear();
    node.schema_awaited = false;
  }
  Index(node);
  greatest_ = std::max(greatest_, node.transition);
  tables_.insert_or_assign(node.name, std::move(node));
}

void TableDirectory::Remove(const TableName& table) {
  const PartLock lock(mutex_);
  tables_.erase(table);
  lock_grants_.erase(table);
  drawn_.erase(table);
  unsettled_.erase(table);
  disabled_.erase(table);
}

void TableDirectory::SetSchema(const TableName& table, const std::string& directory,
                               std::shared_ptr<const TableDescriptor> schema, std::uint64_t number) {
  const PartLock lock(mutex_);
  const auto it = tables_.find(table);
  if (it == tables_.end() || it->second.directory != directory) return;
  if (it->second.schema != nullptr && number < it->second.schema_number && !RATCHET_MUTANT("master.schema_goes_back"))
    return;
  it->second.schema = std::move(schema);
  it->second.schema_number = number;
  it->second.schema_error.clear();
  it->second.schema_awaited = false;
  Index(it->second);
}

std::uint64_t TableDirectory::RecordLockGrant(const TableName& table, ProcId pid, bool deletes) {
  const PartLock lock(mutex_);
  // Earlier versions derived numbers from the pid; the new number exceeds those too.
  std::uint64_t first = pid.value() * kTableChanges;
  if (first <= greatest_ && !RATCHET_MUTANT("master.numbers_by_submission")) first = greatest_ + 1;
  greatest_ = std::max(greatest_, first + kTableChanges - 1);
  lock_grants_.insert_or_assign(table, TableLockGrant{pid, first, deletes});
  return first;
}

void TableDirectory::RestoreLockGrant(const TableName& table, const TableLockGrant& grant) {
  const PartLock lock(mutex_);
  greatest_ = std::max(greatest_, grant.transition + kTableChanges - 1);
  TableLockGrant& last = lock_grants_[table];
  if (!last.pid.valid() || last.transition < grant.transition) last = grant;
}

std::uint64_t TableDirectory::DrawDescriptor(const TableName& table) {
  const PartLock lock(mutex_);
  const auto it = tables_.find(table);
  std::uint64_t& drawn = drawn_[table];
  drawn = std::max(drawn, it == tables_.end() ? 0 : it->second.schema_number) + 1;
  return drawn;
}

void TableDirectory::RestoreDescriptor(const TableName& table, std::uint64_t number) {
  const PartLock lock(mutex_);
  std::uint64_t& drawn = drawn_[table];
  drawn = std::max(drawn, number);
}

std::optional<TableLockGrant> TableDirectory::LastLockGrant(const TableName& table) const {
  const PartLock lock(mutex_);
  const auto it = lock_grants_.find(table);
  if (it == lock_grants_.end()) return std::nullopt;
  return it->second;
}

}  // namespace ratchet::master
