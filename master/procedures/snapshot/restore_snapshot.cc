#include "master/procedures/snapshot/restore_snapshot.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "master/cluster/errors.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/region_directory.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

ProcedurePtr RestoreSnapshot::Make(const TableName& table, const CompleteSnapshot& snapshot, bool restores_rights) {
  return std::make_unique<RestoreSnapshot>(NewCopyData(table, snapshot, restores_rights));
}

StepOutcome RestoreSnapshot::PreOperation(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const TableName name = TableOf(data_);
  const auto table = env.tables.Get(name);
  if (!table) return Fail{TableNotFound(name)};
  if (table->state != TableState::kDisabled) return Fail{TableNotDisabled(name)};
  const auto regions = env.regions.OfTable(name);
  if (Status rest = AtRest(regions); !rest.ok()) return Retry{rest.error(), std::nullopt};  // without the lock
  RATCHET_STEP(ReadSnapshot(ctx, data_));
  if (regions.size() + static_cast<std::size_t>(data_.copied_size()) + 1 > kMaxReplacedRows) {
    return Fail{IllegalRequest(
        fmt::format("table {} has {} regions and snapshot {} has {}: restoring changes at most {} rows "
                    "of hbase:meta at once. Drop the table and clone the snapshot",
                    name.ToString(), regions.size(), data_.snapshot(), data_.copied_size(), kMaxReplacedRows))};
  }
  const auto had = static_cast<std::size_t>(
      std::count_if(regions.begin(), regions.end(), [](const RegionNode& node) { return HasItsRows(node.state); }));
  const auto has = static_cast<std::size_t>(data_.copied_size());
  if (has > had) {  // the additional regions must fit the namespace's limit
    if (Status room = env.namespaces.Take(ctx.pid(), {name, false, has - had}); !room.ok()) return Fail{room.error()};
  }
  data_.set_old_directory(table->directory);
  data_.set_directory(TableDirectoryName(name, ctx.pid()));
  RecordLockGrant(env, data_, ctx.pid(), table->state);
  return GoTo<&RestoreSnapshot::SetDisabled>();
}

}  // namespace ratchet::master
