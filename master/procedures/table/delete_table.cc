#include "master/procedures/table/delete_table.h"

#include <algorithm>

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/procedures/rights/rights_steps.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

StepOutcome DeleteTable::PreOperation(StepContext& ctx) {
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
  const bool disabled = table->state == TableState::kDisabled && at_rest;
  return disabled ? GoTo<&DeleteTable::RemoveFromMeta>() : GoTo<&DeleteTable::SetDisabling>();
}

StepOutcome DeleteTable::SetDisabling(StepContext& ctx) {
  // A late write of an earlier deletion has removed the row: the rest of its regions and files is removed.
  if (!EnvOf(ctx).tables.Exists(TableOf(data_))) return GoTo<&DeleteTable::RemoveFromMeta>();
  RATCHET_STEP(SetTableState(ctx, data_, TableState::kDisabling, 0));
  return GoTo<&DeleteTable::MarkRegionsOffline>();
}

// Checks the regions again under the lock, which is released while the regions are closed.
StepOutcome DeleteTable::MarkRegionsOffline(StepContext& ctx) {
  std::vector<ProcedurePtr> unassigns = UnassignAll(EnvOf(ctx), TableOf(data_));
  if (unassigns.empty()) return GoTo<&DeleteTable::RemoveFromMeta>();
  return SpawnThen<&DeleteTable::MarkRegionsOffline>(std::move(unassigns));
}

StepOutcome DeleteTable::ClearFsLayout(StepContext& ctx) {
  RATCHET_STEP(DropAndArchiveLayout(ctx, data_.directory()));
  // A record of an earlier version starts at this step.
  const auto table = EnvOf(ctx).tables.Get(TableOf(data_));
  if (table && table->directory == data_.directory()) return GoTo<&DeleteTable::RemoveFromMeta>();
  return GoTo<&DeleteTable::PostOperation>();
}

StepOutcome DeleteTable::RemoveFromMeta(StepContext& ctx) {
  // S115 (missing row is not evidence), before the first row is removed
  RATCHET_STEP(DropLayout(ctx, data_.directory()));
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
  RATCHET_STEP(WriteMeta(ctx, "table", {row}));
  env.tables.Remove(TableOf(data_));  // before a region's row is removed, so that no incomplete table can be enabled
  RATCHET_STEP(WriteMeta(ctx, "regions", edits));
  for (const RegionNode& node : nodes) env.regions.Remove(node.info.encoded_name());
  if (TakeRightsAway(ctx, rights::Scope::Table(TableOf(data_)))) return GoTo<&DeleteTable::TakeRights>();
  return GoTo<&DeleteTable::ClearFsLayout>();
}

// S136 (a name made again has no old right): the name is free only when no server knows the table's rights.
StepOutcome DeleteTable::TakeRights(StepContext& ctx) {
  ShowRightsWithin(ctx, rights::Scope::Table(TableOf(data_)));
  std::vector<ProcedurePtr> orders = TellRights(ctx);
  if (orders.empty()) return GoTo<&DeleteTable::ClearFsLayout>();
  return SpawnThen<&DeleteTable::ClearFsLayout>(std::move(orders));
}

StepOutcome DeleteTable::PostOperation(StepContext&) {
  const bool was_going =
      data_.has_found_state() && data_.found_state() != static_cast<std::uint32_t>(TableState::kDisabled);
  return Done{was_going ? std::string(kDisabledFirst) : ""};
}

}  // namespace ratchet::master
