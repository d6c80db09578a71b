#include "master/procedures/table/enable_table.h"

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/procedures/assignment/assign_regions.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

StepOutcome EnableTable::Prepare(StepContext& ctx) {
  const auto table = EnvOf(ctx).tables.Get(TableOf(data_));
  if (!table) return Fail{TableNotFound(TableOf(data_))};
  const bool goes_on = table->state == TableState::kEnabling && IsLeftBehind(EnvOf(ctx), *table);
  if (table->state != TableState::kDisabled && !goes_on) return Fail{TableNotDisabled(TableOf(data_))};
  RecordLockGrant(EnvOf(ctx), data_, ctx.pid(), table->state);
  return GoTo<&EnableTable::SetEnabling>();
}

StepOutcome EnableTable::SetEnabling(StepContext& ctx) {
  RATCHET_STEP(SetTableState(ctx, data_, TableState::kEnabling, 0));
  return GoTo<&EnableTable::MarkRegionsOnline>();
}

// If this procedure resumed an abandoned enable, some regions may be open: the reconciler closes them.
Status EnableTable::BackToDisabled(StepContext& ctx) {
  const bool any_open = AnyRegionIs(EnvOf(ctx), TableOf(data_), RegionState::kOpen);
  return UndoTableState(ctx, data_, any_open ? TableState::kDisabling : TableState::kDisabled, 1);
}

StepOutcome EnableTable::MarkRegionsOnline(StepContext& ctx) {
  // A DeleteTable that an operator ended may have left its mark (S115: missing row is not evidence).
  const auto table = EnvOf(ctx).tables.Get(TableOf(data_));
  if (table) {
    RATCHET_STEP(KeepLayout(ctx, table->directory, ProcId()));
  }
  std::vector<RegionNode> closed = EnvOf(ctx).regions.OfTable(TableOf(data_));
  std::erase_if(closed, [](const RegionNode& node) {
    const bool open = node.state == RegionState::kOpen && !node.owner.valid();  // its opener was bypassed
    return open || !HasItsRows(node.state);
  });
  return SpawnThen<&EnableTable::SetEnabled>(AssignAll(EnvOf(ctx), closed, /*retain=*/true));
}

StepOutcome EnableTable::SetEnabled(StepContext& ctx) {
  if (auto why = TakenOver(EnvOf(ctx), data_, ctx.pid())) return Done{std::move(*why)};
  RATCHET_STEP(SetTableState(ctx, data_, TableState::kEnabled, 2));
  return Done{};
}

}  // namespace ratchet::master
