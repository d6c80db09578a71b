#include "master/procedures/table_steps.h"

#include <algorithm>
#include <utility>

#include "master/procedures/undo_writes.h"
#include "procedure/executor.h"

namespace ratchet::master {

TableName TableOf(const pb::TableData& data) { return {data.ns(), data.qualifier()}; }

procedure::LockSet TableLock(const pb::TableData& data) {
  return {procedure::Exclusive(procedure::ResourceKey::Table(TableOf(data).ToString()))};
}

pb::TableData NewTableData(const TableName& table) {
  pb::TableData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  return data;
}

MetaEdit TableEdit(const TableNode& table, TableState state, ProcId pid, std::uint64_t change) {
  return EditTable(MetaEdit::Kind::kPutTable, {table.name, state, table.directory, TableTransition(pid, change)});
}

void ShowTable(MasterEnv& env, TableNode table, TableState state, ProcId pid, std::uint64_t change) {
  table.state = state;
  table.transition = TableTransition(pid, change);
  env.tables.Put(std::move(table));
}

std::optional<StepOutcome> SetTableState(StepContext& ctx, const TableName& table, TableState state, std::uint64_t change) {
  MasterEnv& env = EnvOf(ctx);
  const auto node = env.tables.Get(table);
  if (!node) return Retry{Error(Code::kInternal, "table " + table.ToString() + " has vanished under its lock"), std::nullopt};
  if (auto outcome = WriteMeta(ctx, "table-state", {TableEdit(*node, state, ctx.pid(), change)})) return outcome;
  ShowTable(env, *node, state, ctx.pid(), change);
  return std::nullopt;
}

bool IsLeftBehind(const MasterEnv& env, const TableNode& table) {
  if (table.state != TableState::kEnabling && table.state != TableState::kDisabling) return false;
  return env.executor->GetResult(MakerOf(table.transition)).status != procedure::ProcedureResult::Status::kRunning;
}

bool AnyRegionIs(const MasterEnv& env, const TableName& table, RegionState state) {
  const auto regions = env.regions.OfTable(table);
  return std::any_of(regions.begin(), regions.end(), [state](const RegionNode& node) { return node.state == state; });
}

Status UndoTableState(StepContext& ctx, const TableName& table, TableState state, std::uint64_t change) {
  MasterEnv& env = EnvOf(ctx);
  const auto node = env.tables.Get(table);
  if (!node) return env.meta_loaded.load() ? Ok() : Status(Error(Code::kUnavailable, "hbase:meta is not loaded"));
  RATCHET_TRY(env.undo_writes.Write(ctx.pid(), {TableEdit(*node, state, ctx.pid(), change)}));
  ShowTable(env, *node, state, ctx.pid(), change);
  return Ok();
}

}  // namespace ratchet::master
