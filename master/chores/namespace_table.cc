#include "master/chores/namespace_table.h"

#include <memory>
#include <string>

#include "master/cluster/namespace_directory.h"
#include "master/procedures/core/master_env.h"

namespace ratchet::master {
namespace {

constexpr const char* kColumn = "d";
// Includes rows of other writers.
constexpr std::size_t kMostCells = 2 * NamespaceDirectory::kMostNamespaces;

FollowingTable::Source NamespaceSource(MasterEnv& env) {
  FollowingTable::Source source;
  source.table = NamespaceTableDescriptor();
  source.most_cells = kMostCells;
  source.is_needed = [&env] { return env.namespaces.size() > 0; };
  source.is_foreign = [](const SystemCell& cell) { return cell.qualifier != kColumn; };
  source.wanted = [&env] {
    auto cells = std::make_shared<FollowingTable::Cells>();
    for (const NamespaceDescriptor& each : env.namespaces.List())
      (*cells)[{each.name, kColumn}] = EncodeNamespace(each);
    return cells;
  };
  return source;
}

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

NamespaceTable::NamespaceTable(MasterEnv& env) : env_(env), table_(env, NamespaceSource(env)) {}

void NamespaceTable::Tick() { table_.Tick(env_.namespace_table); }

}  // namespace ratchet::master
