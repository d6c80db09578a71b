#include "master/procedures/disable_table.h"

#include "master/assignment/region_directory.h"
#include "master/procedures/transit_region_state.h"
#include "master/server/errors.h"
#include "procedure/executor.h"

namespace ratchet::master {

StepOutcome DisableTable::Prepare(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  const auto table = EnvOf(ctx).tables.Get(TableOf(data_));
  if (!table) return Fail{TableNotFound(TableOf(data_))};
  if (table->name.IsMeta()) return Fail{IllegalRequest("hbase:meta cannot be disabled")};
  const bool goes_on = table->state == TableState::kDisabling && IsLeftBehind(EnvOf(ctx), *table);
  if (table->state != TableState::kEnabled && !goes_on) return Fail{TableNotEnabled(TableOf(data_))};
  return GoTo(State::kSetDisabling);
}

StepOutcome DisableTable::SetDisabling(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (auto outcome = SetTableState(ctx, TableOf(data_), TableState::kDisabling, 0)) return std::move(*outcome);
  return GoTo(State::kMarkRegionsOffline);
}

// Where it went on with what another one had left behind, regions may be closed: the reconciler has them opened then.
Status DisableTable::BackToEnabled(StepContext& ctx) {
  const bool any_closed = AnyRegionIs(EnvOf(ctx), TableOf(data_), RegionState::kClosed);
  return UndoTableState(ctx, TableOf(data_), any_closed ? TableState::kEnabling : TableState::kEnabled, 1);
}

StepOutcome DisableTable::MarkRegionsOffline(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  std::vector<ProcedurePtr> unassigns;
  for (const RegionNode& node : env.regions.OfTable(TableOf(data_))) {
    const bool done = node.state == RegionState::kClosed || node.state == RegionState::kSplit ||
                      node.state == RegionState::kMerged;
    if (done && !node.owner.valid()) continue;
    // One that keeps trying to open a region which nobody wants to open looks at the table's state at once.
    if (node.owner.valid() && node.failed_opens > 0) (void)env.executor->Kick(node.owner);
    unassigns.push_back(TransitRegionState::Unassign(node.info));
  }
  data_.set_lets_go(true);
  if (unassigns.empty()) return GoTo(State::kSetDisabled);
  return SpawnThen(State::kMarkRegionsOffline, std::move(unassigns));
}

StepOutcome DisableTable::HoldAgain(State then) {
  data_.set_lets_go(false);
  return GoTo(then);
}

StepOutcome DisableTable::SetDisabled(StepContext& ctx) {
  if (data_.lets_go()) return HoldAgain(State::kSetDisabled);
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (auto outcome = SetTableState(ctx, TableOf(data_), TableState::kDisabled, 2)) return std::move(*outcome);
  return Done{};
}

}  // namespace ratchet::master
