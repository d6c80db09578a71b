#include "master/procedures/table/disable_table.h"

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

StepOutcome DisableTable::Prepare(StepContext& ctx) {
  const auto table = EnvOf(ctx).tables.Get(TableOf(data_));
  if (!table) return Fail{TableNotFound(TableOf(data_))};
  if (table->name.IsMeta()) return Fail{IllegalRequest("hbase:meta cannot be disabled")};
  const bool goes_on = table->state == TableState::kDisabling && IsLeftBehind(EnvOf(ctx), *table);
  if (table->state != TableState::kEnabled && !goes_on && !MayTakeOver(EnvOf(ctx), data_, *table)) {
    return Fail{TableNotEnabled(TableOf(data_))};
  }
  RecordLockGrant(EnvOf(ctx), data_, ctx.pid(), table->state);
  return GoTo<&DisableTable::SetDisabling>();
}

StepOutcome DisableTable::SetDisabling(StepContext& ctx) {
  RATCHET_STEP(SetTableState(ctx, data_, TableState::kDisabling, 0));
  return GoTo<&DisableTable::MarkRegionsOffline>();
}

// A table that was taken over in ENABLING or DISABLING stays in that state: the reconciler finishes the transition.
Status DisableTable::BackToFound(StepContext& ctx) {
  const auto found = data_.has_found_state() ? static_cast<TableState>(data_.found_state()) : TableState::kEnabled;
  return UndoTableState(ctx, data_, found, 1);
}

StepOutcome DisableTable::MarkRegionsOffline(StepContext& ctx) {
  if (auto why = TakenOver(EnvOf(ctx), data_, ctx.pid())) return Done{std::move(*why)};
  std::vector<ProcedurePtr> unassigns = UnassignAll(EnvOf(ctx), TableOf(data_));
  if (unassigns.empty()) return GoTo<&DisableTable::SetDisabled>();
  return SpawnThen<&DisableTable::MarkRegionsOffline>(std::move(unassigns));
}

StepOutcome DisableTable::SetDisabled(StepContext& ctx) {
  if (auto why = TakenOver(EnvOf(ctx), data_, ctx.pid())) return Done{std::move(*why)};
  RATCHET_STEP(SetTableState(ctx, data_, TableState::kDisabled, 2));
  return Done{};
}

}  // namespace ratchet::master
