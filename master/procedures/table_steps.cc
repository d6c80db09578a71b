#include "master/procedures/table_steps.h"

#include <utility>

#include "master/procedures/undo_writes.h"

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

Status UndoTableState(StepContext& ctx, const TableName& table, TableState state, std::uint64_t change) {
  MasterEnv& env = EnvOf(ctx);
  const auto node = env.tables.Get(table);
  if (!node) return env.meta_loaded.load() ? Ok() : Status(Error(Code::kUnavailable, "hbase:meta is not loaded"));
  RATCHET_TRY(env.undo_writes.Write(ctx.pid(), {TableEdit(*node, state, ctx.pid(), change)}));
  ShowTable(env, *node, state, ctx.pid(), change);
  return Ok();
}

}  // namespace ratchet::master
