#include "master/chores/namespace_table.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/table/create_table.h"
#include "master/repair/table_comparison.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

constexpr const char* kColumn = "d";
// Includes rows of other writers.
constexpr std::size_t kMostCells = 2 * NamespaceDirectory::kMostNamespaces;

}  // namespace

const TableName& NamespaceTableName() {
  static const TableName kName{std::string(kSystemNamespace), "namespace"};
  return kName;
}

TableDescriptor NamespaceTableDescriptor() {
  TableDescriptor table;
  table.name = NamespaceTableName();
  table.families.push_back(DefaultFamily("info"));
  table.families.back().attributes["VERSIONS"] = "10";
  table.families.back().attributes["IN_MEMORY"] = "true";
  return table;
}

NamespaceTable::Rows NamespaceTable::Wanted() const {
  Rows rows;
  for (const NamespaceDescriptor& each : env_.namespaces.List()) rows[each.name] = EncodeNamespace(each);
  return rows;
}

void NamespaceTable::Tick() {
  if (env_.namespace_table == nullptr || !env_.meta_loaded.load()) return;
  const auto table = env_.tables.Get(NamespaceTableName());
  if (!table) {
    if (env_.namespaces.size() > 0) MakeTable();
    return;
  }
  if (table->state != TableState::kEnabled) return;
  Rows wanted = Wanted();
  {
    const MutexLock lock(mutex_);
    if (working_ || (wanted == held_ && env_.clock.Now() < next_)) return;
    working_ = true;
  }
  Follow(std::move(wanted));
}

// A table that is being created is not in memory at once; a second creation is refused.
void NamespaceTable::MakeTable() {
  if (LayoutIsInHand(*env_.executor, NamespaceTableName())) return;
  {
    const MutexLock lock(mutex_);
    if (working_) return;
    working_ = true;
  }
  env_.executor->SubmitAsync(CreateTable::Make(NamespaceTableDescriptor(), {}), {},
                             [this, weak = std::weak_ptr<int>(alive_)](const Result<ProcId>& pid) {
                               if (weak.expired()) return;
                               if (!pid.ok()) RATCHET_LOG(kInfo, "hbase:namespace: {}", pid.error().ToString());
                               End(Rows());
                             });
}

void NamespaceTable::Follow(Rows wanted) {
  env_.namespace_table->ReadAll(
      kMostCells, [this, weak = std::weak_ptr<int>(alive_), wanted = std::move(wanted)](const auto& cells) {
        if (weak.expired()) return;
        if (!cells.ok()) return End(cells.error());
        Rows found;
        for (const SystemCell& cell : *cells) {
          if (cell.qualifier == kColumn) found[cell.row] = cell.value;
        }
        auto changes = std::make_shared<std::vector<Change>>();
        for (const auto& [name, description] : wanted) {
          const auto there = found.find(name);
          const bool known = there != found.end();
          if (known && there->second == description) continue;
          changes->push_back({{name, kColumn, ""},
                              known ? SystemTable::Value(there->second) : std::nullopt,
                              SystemTable::Value(description)});
        }
        for (const auto& [name, description] : found) {
          if (!wanted.contains(name)) changes->push_back({{name, kColumn, ""}, description, std::nullopt});
        }
        const bool all = changes->size() <= kMostAtOnce;
        if (!all) changes->resize(kMostAtOnce);
        Apply(changes, 0, all ? wanted : Rows());
      });
}

void NamespaceTable::Apply(const std::shared_ptr<std::vector<Change>>& changes, std::size_t next, Rows wanted) {
  if (next == changes->size()) return End(std::move(wanted));
  const Change& change = (*changes)[next];
  env_.namespace_table->Swap(
      change.cell, change.before, change.after,
      [this, weak = std::weak_ptr<int>(alive_), changes, next, wanted = std::move(wanted)](const auto& swapped) {
        if (weak.expired()) return;
        if (!swapped.ok()) return End(swapped.error());
        if (!*swapped) return End(Error(Code::kAborted, "another writer has changed the row"));
        Apply(changes, next + 1, wanted);
      });
}

void NamespaceTable::End(const Result<Rows>& wanted) {
  if (!wanted.ok()) RATCHET_LOG(kDebug, "hbase:namespace: {}", wanted.error().ToString());
  const MutexLock lock(mutex_);
  working_ = false;
  held_ = wanted.ok() ? *wanted : Rows();
  next_ = env_.clock.Now() + kLookAgain;
}

}  // namespace ratchet::master
