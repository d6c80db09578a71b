#include "master/procedures/delete_table.h"

#include "master/assignment/region_directory.h"
#include "master/env/cluster_files.h"
#include "master/server/errors.h"

namespace ratchet::master {

StepOutcome DeleteTable::PreOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(TableOf(data_));
  if (!table) return Fail{TableNotFound(TableOf(data_))};
  if (table->state != TableState::kDisabled) return Fail{TableNotDisabled(TableOf(data_))};
  for (const RegionNode& node : env.regions.OfTable(TableOf(data_))) {
    // A leftover of an operator's override; a disabled table has none.
    if (NeedsServer(node.state) || node.owner.valid()) {
      return Fail{RegionInTransition(node.info.encoded_name(), "it is " + std::string(RegionStateText(node.state)))};
    }
  }
  data_.set_directory(table->directory);
  return GoTo(State::kClearFsLayout);
}

StepOutcome DeleteTable::ClearFsLayout(StepContext& ctx) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  if (Status gone = EnvOf(ctx).files.ArchiveTableLayout(data_.directory(), ctx.epoch()); !gone.ok()) {
    return Retry{gone.error(), std::nullopt};
  }
  return GoTo(State::kRemoveFromMeta);
}

StepOutcome DeleteTable::RemoveFromMeta(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const std::vector<RegionNode> nodes = env.regions.OfTable(TableOf(data_));
  std::vector<MetaEdit> edits;
  for (const RegionNode& node : nodes) {
    edits.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, {node.info, node.state, {}, {}, 0, node.transition + 1}));
  }
  // The table's own row goes last: as long as it is there, the table exists.
  if (auto outcome = WriteMeta(ctx, "regions", edits)) return std::move(*outcome);
  MetaEdit row = EditTable(MetaEdit::Kind::kDeleteTable,
                           {TableOf(data_), TableState::kDisabled, data_.directory(), TableTransition(ctx.pid(), 0)});
  if (auto outcome = WriteMeta(ctx, "table", {row})) return std::move(*outcome);
  for (const RegionNode& node : nodes) env.regions.Remove(node.info.encoded_name());
  env.tables.Remove(TableOf(data_));
  return GoTo(State::kPostOperation);
}

StepOutcome DeleteTable::PostOperation(StepContext&) { return Done{}; }

}  // namespace ratchet::master
