#include "master/procedures/delete_table.h"

#include <algorithm>

#include "master/env/cluster_files.h"
#include "master/state/errors.h"
#include "master/state/region_directory.h"

namespace ratchet::master {

StepOutcome DeleteTable::PreOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(TableOf(data_));
  if (!table) return Fail{TableNotFound(TableOf(data_))};
  if (table->state != TableState::kDisabled && !MayTakeOver(env, data_, *table))
    return Fail{TableNotDisabled(TableOf(data_))};
  data_.set_directory(table->directory);
  TakeTurn(env, data_, ctx.pid(), table->state, /*deletes=*/true);
  const auto regions = env.regions.OfTable(TableOf(data_));
  // A disabled table has such regions only as leftovers of an operator's override.
  const bool at_rest = std::none_of(regions.begin(), regions.end(), [](const RegionNode& node) {
    return NeedsServer(node.state) || node.owner.valid();
  });
  return GoTo(table->state == TableState::kDisabled && at_rest ? State::kRemoveFromMeta : State::kSetDisabling);
}

StepOutcome DeleteTable::SetDisabling(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  // An earlier deletion's write has come after all: what may be left of its regions and files is removed.
  if (!EnvOf(ctx).tables.Exists(TableOf(data_))) return GoTo(State::kRemoveFromMeta);
  if (auto outcome = SetTableState(ctx, data_, TableState::kDisabling, 0)) return std::move(*outcome);
  return GoTo(State::kMarkRegionsOffline);
}

// Looked at again under the lock, which is let go while the regions are closed.
StepOutcome DeleteTable::MarkRegionsOffline(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  std::vector<ProcedurePtr> unassigns = UnassignAll(EnvOf(ctx), TableOf(data_));
  if (unassigns.empty()) return GoTo(State::kRemoveFromMeta);
  return SpawnThen(State::kMarkRegionsOffline, std::move(unassigns));
}

StepOutcome DeleteTable::ClearFsLayout(StepContext& ctx) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  if (Status gone = EnvOf(ctx).files.ArchiveTableLayout(data_.directory(), ctx.epoch()); !gone.ok()) {
    return Retry{gone.error(), std::nullopt};
  }
  // A record of an earlier version comes here first.
  const auto table = EnvOf(ctx).tables.Get(TableOf(data_));
  if (table && table->directory == data_.directory()) return GoTo(State::kRemoveFromMeta);
  return GoTo(State::kPostOperation);
}

StepOutcome DeleteTable::RemoveFromMeta(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const std::vector<RegionNode> nodes = env.regions.OfTable(TableOf(data_));
  std::vector<MetaEdit> edits;
  for (const RegionNode& node : nodes) {
    edits.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, {node.info, node.state, {}, {}, 0, node.taken + 1}));
  }
  // The table's own row goes first: where it is, all of its regions' rows are (S66).
  MetaEdit row = EditTable(MetaEdit::Kind::kDeleteTable, {TableOf(data_), TableState::kDisabled, data_.directory(),
                                                          ChangeNumber(data_, ctx.pid(), 1)});
  if (auto outcome = WriteMeta(ctx, "table", {row})) return std::move(*outcome);
  env.tables.Remove(TableOf(data_));  // before a region's row goes: no table is enabled that has lost some
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
  RestoreTurn(env.As<MasterEnv>(), data_, pid(), /*deletes=*/true);
}

}  // namespace ratchet::master
