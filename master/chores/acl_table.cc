#include "master/chores/acl_table.h"

#include <cstdint>
#include <string>
#include <utility>

#include "common/rights/rights_entry.h"
#include "master/cluster/rights_book.h"
#include "master/procedures/core/master_env.h"

namespace ratchet::master {
namespace {

using Level = rights::Scope::Level;

std::string RowOf(const rights::Scope& scope) {
  return scope.level == Level::kGlobal ? rights::AclTableName().ToString() : PlaceOf(scope);
}

std::string QualifierOf(const rights::RightsEntry& entry) {
  std::string qualifier = entry.user;
  if (entry.scope.level >= Level::kFamily) qualifier += "," + entry.scope.family;
  if (entry.scope.level >= Level::kColumn) qualifier += "," + entry.scope.qualifier;
  return qualifier;
}

// Kept while the rights do not change: there may be very many.
struct Made {
  std::uint64_t number = 0;
  std::shared_ptr<const FollowingTable::Cells> cells;
};

FollowingTable::Source AclSource(MasterEnv& env) {
  FollowingTable::Source source;
  source.table = AclTableDescriptor();
  source.most_cells = 2 * rights::kMostEntries;
  source.is_needed = [&env] { return env.rights.size() > 0; };
  source.wanted = [&env, made = std::make_shared<Made>()]() -> std::shared_ptr<const FollowingTable::Cells> {
    const std::uint64_t number = env.rights.number();  // read first: a later change is seen at the next tick
    if (made->cells != nullptr && made->number == number) return made->cells;
    auto cells = std::make_shared<FollowingTable::Cells>();
    for (const rights::RightsEntry& entry : env.rights.List())
      (*cells)[{RowOf(entry.scope), QualifierOf(entry)}] = entry.actions.Letters();
    *made = {number, std::move(cells)};
    return made->cells;
  };
  return source;
}

}  // namespace

TableDescriptor AclTableDescriptor() {
  TableDescriptor table;
  table.name = rights::AclTableName();
  table.families.push_back(DefaultFamily(kAclFamily));
  auto& attributes = table.families.back().attributes;
  attributes["VERSIONS"] = "1";
  attributes["IN_MEMORY"] = "true";
  attributes["BLOCKCACHE"] = "true";
  attributes["BLOCKSIZE"] = "8192";
  attributes["BLOOMFILTER"] = "NONE";
  attributes["REPLICATION_SCOPE"] = "0";
  return table;
}

AclTable::AclTable(MasterEnv& env, SystemTable& cells) : cells_(cells), table_(env, AclSource(env)) {}

}  // namespace ratchet::master
