#include "master/procedures/table/table_steps.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/undo_writes.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

procedure::LockSet TableLock(const pb::TableData& data) { return {procedure::Exclusive(TableKey(TableOf(data)))}; }

pb::TableData NewTableData(const TableName& table) {
  pb::TableData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  return data;
}

Claims ClaimTable(const pb::TableData& data) {
  Claims claims;
  claims.tables.push_back({TableOf(data), /*with_regions=*/false, {}});
  if (!data.directory().empty()) claims.directories.push_back(data.directory());
  return claims;
}

Claims ClaimLayout(const pb::TableData& data) {
  Claims claims = ClaimTable(data);
  claims.tables.front().with_regions = true;
  claims.tables.front().directory = data.directory();
  return claims;
}

Claims ClaimReplacedLayout(const pb::TableData& data) {
  if (data.directory().empty()) return {};
  Claims claims = ClaimTable(data);
  claims.tables.front().with_regions = true;
  claims.directories.push_back(data.old_directory());
  return claims;
}

void RecordLockGrant(MasterEnv& env, pb::TableData& data, ProcId pid, std::optional<TableState> found, bool deletes) {
  data.set_transition(env.tables.RecordLockGrant(TableOf(data), pid, deletes));
  if (found) data.set_found_state(static_cast<std::uint32_t>(*found));
}

void RestoreLockGrant(MasterEnv& env, const pb::TableData& data, ProcId pid, bool deletes) {
  // Records of an earlier version have no number, because that version derived the number from the pid. Such a
  // procedure has had its lock grant if it has released its lock.
  if (data.transition() == 0 && !data.lets_go()) return;
  env.tables.RestoreLockGrant(TableOf(data), {pid, ChangeNumber(data, pid, 0), deletes});
}

std::uint64_t ChangeNumber(const pb::TableData& data, ProcId pid, std::uint64_t change) {
  return (data.transition() != 0 ? data.transition() : pid.value() * kTableChanges) + change;
}

std::optional<std::string> TakenOver(const MasterEnv& env, const pb::TableData& data, ProcId pid) {
  const std::string name = TableOf(data).ToString();
  const auto table = env.tables.Get(TableOf(data));
  const std::uint64_t first = ChangeNumber(data, pid, 0);
  const bool mine = table && table->transition >= first && table->transition < first + kTableChanges;
  if (mine || RATCHET_MUTANT("master.ignore_take_over")) return std::nullopt;
  if (!table) return fmt::format("{}table {} was deleted meanwhile", kTakenOver, name);
  const auto grant = env.tables.LastLockGrant(TableOf(data));
  return fmt::format("{}table {} is {}{}", kTakenOver, name, TableStateText(table->state),
                     grant && grant->pid != pid ? fmt::format(" since pid={} got its lock", grant->pid) : "");
}

bool MayTakeOver(const MasterEnv& env, const pb::TableData& data, const TableNode& table) {
  if (!IsBetween(table.state) || data.takes_over() != table.directory) return false;
  const auto grant = env.tables.LastLockGrant(table.name);
  return !grant || !grant->deletes ||
         env.executor->GetResult(grant->pid).status != procedure::ProcedureResult::Status::kRunning;
}

pb::TableData NewTableData(const TableNode& table) {
  pb::TableData data = NewTableData(table.name);
  if (IsBetween(table.state)) data.set_takes_over(table.directory);
  return data;
}

MetaEdit TableEdit(const TableNode& table, TableState state, std::uint64_t number) {
  const auto kind =
      RATCHET_MUTANT("master.create_by_update") ? MetaEdit::Kind::kCreateTable : MetaEdit::Kind::kUpdateTable;
  return EditTable(kind, {table.name, state, table.directory, number});
}

MetaEdit TableCreation(const TableNode& table, std::uint64_t number) {
  return EditTable(MetaEdit::Kind::kCreateTable, {table.name, TableState::kEnabling, table.directory, number});
}

void ShowTable(MasterEnv& env, TableNode table, TableState state, std::uint64_t number) {
  table.state = state;
  table.transition = number;
  env.tables.Put(std::move(table));
}

namespace {

void LogNoRow(ProcId pid, const TableNode& table) {
  RATCHET_LOG(kWarn, "pid={} table {}, directory {}, has no row in hbase:meta: removed from memory", pid,
              table.name.ToString(), table.directory);
}

}  // namespace

std::optional<StepOutcome> SetTableState(StepContext& ctx, const pb::TableData& data, TableState state,
                                         std::uint64_t change) {
  MasterEnv& env = EnvOf(ctx);
  const auto node = env.tables.Get(TableOf(data));
  if (!node) return Fail{TableNotFound(TableOf(data))};
  const std::uint64_t number = ChangeNumber(data, ctx.pid(), change);
  const auto grant = env.tables.LastLockGrant(node->name);
  const bool superseded = grant && grant->pid != ctx.pid() && !RATCHET_MUTANT("master.retry_below_newer") &&
                          !RATCHET_MUTANT("master.ignore_take_over");
  bool absent = false;
  bool newer = false;
  RATCHET_STEP(
      WriteMeta(ctx, "table-state", {TableEdit(*node, state, number)}, &absent, superseded ? &newer : nullptr));
  if (newer) {  // an operator ended the later procedure while its write was on its way
    return Done{fmt::format("{}pid={} changed table {}", kTakenOver, grant->pid, node->name.ToString())};
  }
  if (absent) {  // the next attempt finds what the caller does about a table that is gone
    LogNoRow(ctx.pid(), *node);
    env.tables.Remove(node->name);
    return Retry{TableNotFound(node->name), std::nullopt};
  }
  ShowTable(env, *node, state, number);
  return std::nullopt;
}

bool IsLeftBehind(const MasterEnv& env, const TableNode& table) {
  if (!IsBetween(table.state)) return false;
  const auto grant = env.tables.LastLockGrant(table.name);
  if (!grant) return true;  // that procedure ended before this master started
  return env.executor->GetResult(grant->pid).status != procedure::ProcedureResult::Status::kRunning;
}

bool IsLeftBehind(const RegionNode& region, TableState table, std::optional<SettlementState> settlement) {
  if (region.owner.valid() || region.info.IsMeta() || settlement == SettlementState::kAwait) return false;
  switch (table) {
    case TableState::kEnabled: return !IsAtRest(region.state) || region.state == RegionState::kOffline;
    case TableState::kDisabled: return region.state != RegionState::kClosed && !IsSplitOrMerged(region.state);
    case TableState::kEnabling:
    case TableState::kDisabling: break;  // DisableTable handles its regions
  }
  return false;
}

bool IsLeftBehind(const MasterEnv& env, const RegionNode& region) {
  const auto table = env.tables.Get(region.info.table);
  if (!table) return false;
  if (!region.location) return IsLeftBehind(region, table->state, std::nullopt);
  return env.servers.PhaseOf(*region.location).has_value() &&
         IsLeftBehind(region, table->state, env.servers.SettlementOf(*region.location, /*region=*/{}));
}

bool AnyRegionIs(const MasterEnv& env, const TableName& table, RegionState state) {
  const auto regions = env.regions.OfTable(table);
  return std::any_of(regions.begin(), regions.end(), [state](const RegionNode& node) { return node.state == state; });
}

Status UndoTableState(StepContext& ctx, const pb::TableData& data, TableState state, std::uint64_t change) {
  MasterEnv& env = EnvOf(ctx);
  const auto node = env.tables.Get(TableOf(data));
  if (!node) return env.meta_loaded.load() ? Ok() : Status(Error(Code::kUnavailable, "hbase:meta is not loaded"));
  const std::uint64_t number = ChangeNumber(data, ctx.pid(), change);
  const Status written = env.undo_writes.Write(ctx.pid(), 0, {TableEdit(*node, state, number)});
  if (!written.ok() && written.error().code() == Code::kNotFound) {
    LogNoRow(ctx.pid(), *node);
    env.tables.Remove(node->name);
    return Ok();
  }
  RATCHET_TRY(written);
  ShowTable(env, *node, state, number);
  return Ok();
}

std::vector<ProcedurePtr> UnassignAll(MasterEnv& env, const TableName& table) {
  std::vector<ProcedurePtr> unassigns;
  for (const RegionNode& node : env.regions.OfTable(table)) {
    const bool done = node.state == RegionState::kClosed || !HasItsRows(node.state);
    if (done && (!node.owner.valid() || IsBeingMade(node.state))) continue;
    // Wakes a procedure that keeps trying to open a region, so that it checks the table's state at once.
    if (node.owner.valid() && node.failed_opens > 0) (void)env.executor->Kick(node.owner);
    unassigns.push_back(TransitRegionState::UnassignForTable(node.info));
  }
  return unassigns;
}

}  // namespace ratchet::master
