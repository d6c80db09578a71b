#include "master/procedures/table/delete_table.h"

#include <algorithm>

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

StepOutcome DeleteTable::PreOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(TableOf(data_));
  if (!table) return Fail{TableNotFound(TableOf(data_))};
  if (table->state != TableState::kDisabled && !MayTakeOver(env, data_, *table))
    return Fail{TableNotDisabled(TableOf(data_))};
  data_.set_directory(table->directory);
  RecordLockGrant(env, data_, ctx.pid(), table->state, /*deletes=*/true);
  const auto regions = env.regions.OfTable(TableOf(data_));
  // A disabled table has regions in transition only after an operator ended their procedure.
  const bool at_rest = std::none_of(regions.begin(), regions.end(), [](const RegionNode& node) {
    return NeedsServer(node.state) || node.owner.valid();
  });
  return GoTo(table->state == TableState::kDisabled && at_rest ? State::kRemoveFromMeta : State::kSetDisabling);
}

StepOutcome DeleteTable::SetDisabling(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  // A late write of an earlier deletion has removed the row: the rest of its regions and files is removed.
  if (!EnvOf(ctx).tables.Exists(TableOf(data_))) return GoTo(State::kRemoveFromMeta);
  if (auto outcome = SetTableState(ctx, data_, TableState::kDisabling, 0)) return std::move(*outcome);
  return GoTo(State::kMarkRegionsOffline);
}

// Checks the regions again under the lock, which is released while the regions are closed.
StepOutcome DeleteTable::MarkRegionsOffline(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  std::vector<ProcedurePtr> unassigns = UnassignAll(EnvOf(ctx), TableOf(data_));
  if (unassigns.empty()) return GoTo(State::kRemoveFromMeta);
  return SpawnThen(State::kMarkRegionsOffline, std::move(unassigns));
}

StepOutcome DeleteTable::ClearFsLayout(StepContext& ctx) {
  if (auto wait = DropAndArchiveLayout(ctx, data_.directory())) return std::move(*wait);
  // A record of an earlier version starts at this step.
  const auto table = EnvOf(ctx).tables.Get(TableOf(data_));
  if (table && table->directory == data_.directory()) return GoTo(State::kRemoveFromMeta);
  return GoTo(State::kPostOperation);
}

StepOutcome DeleteTable::RemoveFromMeta(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  // S115 (missing row is not evidence), before the first row is removed
  if (auto wait = DropLayout(ctx, data_.directory())) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const std::vector<RegionNode> nodes = env.regions.OfTable(TableOf(data_));
  std::vector<MetaEdit> edits;
  for (const RegionNode& node : nodes) {
    edits.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, {node.info, node.state, {}, {}, 0, node.reserved + 1}));
  }
  // The table's own row is removed first: while it exists, the rows of all its regions exist (S66: table row last in,
  // first out).
  MetaEdit row = EditTable(MetaEdit::Kind::kDeleteTable, {TableOf(data_), TableState::kDisabled, data_.directory(),
                                                          ChangeNumber(data_, ctx.pid(), 1)});
  if (auto outcome = WriteMeta(ctx, "table", {row})) return std::move(*outcome);
  env.tables.Remove(TableOf(data_));  // before a region's row is removed, so that no incomplete table can be enabled
  if (auto outcome = WriteMeta(ctx, "regions", edits)) return std::move(*outcome);
  for (const RegionNode& node : nodes) env.regions.Remove(node.info.encoded_name());
  return GoTo(State::kClearFsLayout);
}

StepOutcome DeleteTable::PostOperation(StepContext&) {
  const bool was_going =
      data_.has_found_state() && data_.found_state() != static_cast<std::uint32_t>(TableState::kDisabled);
  return Done{was_going ? std::string(kDisabledFirst) : ""};
}

void DeleteTable::OnRecovered(const procedure::EnvRef& env) {
  RestoreLockGrant(env.As<MasterEnv>(), data_, pid(), /*deletes=*/true);
}

}  // namespace ratchet::master
