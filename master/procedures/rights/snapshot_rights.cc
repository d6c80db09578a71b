#include "master/procedures/rights/snapshot_rights.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/cluster/rights_book.h"
#include "master/cluster/snapshot_book.h"
#include "master/procedures/core/common.h"
#include "master/procedures/core/master_env.h"

namespace ratchet::master {
namespace {

using Level = rights::Scope::Level;

bool HasFamily(const TableDescriptor& schema, const rights::Scope& scope) {
  if (scope.level < Level::kFamily || RATCHET_MUTANT("snapshot.rights_of_dropped_families")) return true;
  return std::any_of(schema.families.begin(), schema.families.end(),
                     [&](const FamilyDescriptor& family) { return family.name == scope.family; });
}

}  // namespace

void RightsOfSnapshot(const MasterEnv& env, const TableName& table, hbase::pb::SnapshotParts& parts) {
  parts.clear_rights();
  parts.set_has_rights(true);
  for (const std::string& key : env.rights.KeysWithin(rights::Scope::Table(table))) {
    const RightsKey read = ReadRightsKey(key);
    const rights::Actions actions = env.rights.Get(read.user, read.scope);
    // A damaged record gives no right, here as elsewhere.
    if (!actions.empty()) *parts.add_rights() = rights::ToProto({read.user, read.scope, actions});
  }
}

Status SetRestoredRights(const MasterEnv& env, const hbase::pb::SnapshotParts& parts, const TableDescriptor& schema,
                         pb::TableData& data) {
  data.clear_restored_rights();
  data.clear_rights_unknown();
  if (!data.restores_rights()) return Ok();
  if (!parts.has_rights()) {
    data.set_rights_unknown(true);
    return Ok();
  }
  std::size_t bytes = 0;
  for (const ratchet::pb::RightsEntry& stored : parts.rights()) {
    auto entry = rights::EntryFromProto(stored);
    if (!entry.ok()) return SnapshotDamaged("a right of the snapshot is not valid: " + entry.error().message());
    if (entry->scope.level < Level::kTable) return SnapshotDamaged("a right of the snapshot is not one in a table");
    if (!HasFamily(schema, entry->scope)) continue;
    entry->scope.table = TableOf(data);
    data.add_restored_rights(RightsRecord(*entry));
    bytes += data.restored_rights(data.restored_rights_size() - 1).size();
  }
  const auto count = static_cast<std::size_t>(data.restored_rights_size());
  if (Status room = env.rights.RoomForTable(count, bytes); !room.ok()) return IllegalRequest(room.error().message());
  return Ok();
}

std::vector<rights::RightsEntry> RestoredRights(const pb::TableData& data) {
  std::vector<rights::RightsEntry> restored;
  for (const std::string& bytes : data.restored_rights()) {
    ratchet::pb::RightsEntry proto;
    if (!proto.ParseFromString(bytes)) continue;  // of a damaged record: no right
    auto entry = rights::EntryFromProto(proto);
    if (entry.ok() && entry->scope.level >= Level::kTable && entry->scope.table == TableOf(data))
      restored.push_back(*std::move(entry));
  }
  return restored;
}

}  // namespace ratchet::master
