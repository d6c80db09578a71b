#include "master/procedures/table/truncate_table.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/env/cluster_files.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/table/new_table.h"
#include "master/procedures/table/replace_table.h"

namespace ratchet::master {

ProcedurePtr TruncateTable::Make(const TableName& table, bool preserve_splits) {
  pb::TableData data = NewTableData(table);
  data.set_preserve_splits(preserve_splits);
  return std::make_unique<TruncateTable>(std::move(data));
}

procedure::Description TruncateTable::Describe() const {
  procedure::Description about;
  about.Add("table", TableOf(data_).ToString());
  if (data_.has_directory()) about.Add("new regions", data_.split_keys_size() + 1);
  return about;
}

StepOutcome TruncateTable::PreOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const TableName name = TableOf(data_);
  if (name.IsMeta()) return Fail{IllegalRequest("hbase:meta cannot be truncated")};
  if (auto outcome = ReadNewestSchema(ctx, name)) return std::move(*outcome);
  const auto table = env.tables.Get(name);
  if (!table) return Fail{TableNotFound(name)};
  if (table->state != TableState::kDisabled) return Fail{TableNotDisabled(name)};
  const auto regions = env.regions.OfTable(name);
  if (Status rest = AtRest(regions); !rest.ok()) return Retry{rest.error(), std::nullopt};  // without the lock
  std::set<std::string> keys;
  for (const RegionNode& node : regions) {
    if (data_.preserve_splits() && HasItsRows(node.state) && !node.info.start_key.empty())
      keys.insert(node.info.start_key);
  }
  if (regions.size() + keys.size() + 2 > kMaxReplacedRows) {
    return Fail{
        IllegalRequest(fmt::format("table {} has {} regions: truncation changes at most {} rows of hbase:meta at "
                                   "once. Drop the table and create it again",
                                   name.ToString(), regions.size(), kMaxReplacedRows))};
  }
  data_.clear_split_keys();
  for (const std::string& key : keys) data_.add_split_keys(key);
  hbase::pb::TableSchema schema;
  ToProto(*table->schema, schema);
  data_.set_schema(schema.SerializeAsString());
  data_.set_old_directory(table->directory);
  data_.set_directory(TableDirectoryName(name, ctx.pid()));
  RecordLockGrant(env, data_, ctx.pid(), table->state);
  return GoTo(State::kSetDisabled);
}

// The later commit expects the table's row with exactly this transition number.
StepOutcome TruncateTable::SetDisabled(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (auto outcome = SetTableState(ctx, data_, TableState::kDisabled, 0)) return std::move(*outcome);
  return GoTo(State::kCreateFsLayout);
}

StepOutcome TruncateTable::CreateFsLayout(StepContext& ctx) {
  if (auto outcome = MakeNewLayout(ctx, data_)) return std::move(*outcome);
  return GoTo(State::kUpdateMeta);
}

Status TruncateTable::ArchiveLayout(StepContext& ctx) { return ArchiveNewLayout(ctx, data_); }

StepOutcome TruncateTable::UpdateMeta(StepContext& ctx) {
  if (auto outcome = ReplaceTable(ctx, data_, TableState::kEnabling)) return std::move(*outcome);
  return GoTo(State::kClearFsLayout);
}

StepOutcome TruncateTable::ClearFsLayout(StepContext& ctx) {
  if (auto outcome = ArchiveOldLayout(ctx, data_)) return std::move(*outcome);
  return GoTo(State::kAssignRegions);
}

StepOutcome TruncateTable::AssignRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return SpawnThen(State::kEnable, AssignNewRegions(data_, ctx.pid()));
}

StepOutcome TruncateTable::Enable(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (TakenOver(EnvOf(ctx), data_, ctx.pid())) return GoTo(State::kPostOperation);
  if (auto outcome = SetTableState(ctx, data_, TableState::kEnabled, 2)) return std::move(*outcome);
  return GoTo(State::kPostOperation);
}

StepOutcome TruncateTable::PostOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return Done{TakenOver(EnvOf(ctx), data_, ctx.pid()).value_or("")};
}

void TruncateTable::OnRecovered(const procedure::EnvRef& env) { RestoreLockGrant(env.As<MasterEnv>(), data_, pid()); }

}  // namespace ratchet::master
