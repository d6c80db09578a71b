// Shared by the procedures that create, enable, disable and delete tables.
//
// They hold an exclusive lock on their table from the first step, also while they wait or retry, so that the findings
// of PREPARE stay valid. They release it while children move the table's regions, which crash procedures may have to
// assign meanwhile. They hold it again for the final state change, because other parts may see that change in
// hbase:meta before the step knows that it was made.
//
// The order of lock grants decides. After a pause this order differs from the order of pids. So the
// numbers of a row's changes are reserved at the grant, not derived from a pid (S69: lock-grant order decides). A
// procedure with a later lock grant may disable or delete a table in ENABLING or DISABLING, so that no state is a trap.
// The procedure that loses the table notices this when it holds the lock again, changes nothing, and reports it in its
// result (S70: take over a table in transition).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/common.h"
#include "procedure/api/lock_request.h"

namespace ratchet::master {

[[nodiscard]] procedure::LockSet TableLock(const pb::TableData& data);
[[nodiscard]] pb::TableData NewTableData(const TableName& table);

// The claims of procedures that change only the table's state; that make or remove its directory; and that replace the
// directory. The last claim nothing before they have begun, because they may wait for a repair (S95: repair counts
// certain rows).
[[nodiscard]] Claims ClaimTable(const pb::TableData& data);
[[nodiscard]] Claims ClaimLayout(const pb::TableData& data);
[[nodiscard]] Claims ClaimReplacedLayout(const pb::TableData& data);

// Records the lock grant of procedure `pid`, in the step that checks whether it may continue. `found`: the table's
// state; nullopt while the table is being created.
void RecordLockGrant(MasterEnv& env, pb::TableData& data, ProcId pid, std::optional<TableState> found,
                     bool deletes = false);
// Restores the procedure's lock grant after a restart; called by Procedure::OnRecovered.
void RestoreLockGrant(MasterEnv& env, const pb::TableData& data, ProcId pid, bool deletes = false);
// Returns the number of the `change`-th change of procedure `pid`.
[[nodiscard]] std::uint64_t ChangeNumber(const pb::TableData& data, ProcId pid, std::uint64_t change);
// Returns the result of a procedure that has nothing left to do, because a procedure with a later lock grant has
// changed the table, or the table no longer exists.
[[nodiscard]] std::optional<std::string> TakenOver(const MasterEnv& env, const pb::TableData& data, ProcId pid);
// Prefix of that result.
inline constexpr std::string_view kTakenOver = "taken over: ";
// Result of a DeleteTable that began in ENABLING or DISABLING.
inline constexpr std::string_view kDisabledFirst = "disabled first";
[[nodiscard]] constexpr bool IsBetween(TableState state) {
  return state == TableState::kEnabling || state == TableState::kDisabling;
}
// Returns the data of a request to disable or delete the table in its current state.
[[nodiscard]] pb::TableData NewTableData(const TableNode& table);
// Checked at the lock grant: returns true if the table is in ENABLING or DISABLING, was so at the request, and is not
// being deleted.
[[nodiscard]] bool MayTakeOver(const MasterEnv& env, const pb::TableData& data, const TableNode& table);

// TableEdit: the edit that sets the table's existing row to `state`, with the transition number `number`.
// TableCreation: the edit that creates the row, in state ENABLING; S173 (only creations add table rows).
[[nodiscard]] MetaEdit TableEdit(const TableNode& table, TableState state, std::uint64_t number);
[[nodiscard]] MetaEdit TableCreation(const TableNode& table, std::uint64_t number);
// Sets the same in memory, after meta has it.
void ShowTable(MasterEnv& env, TableNode table, TableState state, std::uint64_t number);
// Writes the row, then updates memory. Returns nullopt when done. Fails if the table is gone: PREPARE ran while a write
// of an ended deletion was in progress, and a new master has read its result. If hbase:meta has no row, removes the
// table from memory and repeats the step, which then finds that the table is gone. If a procedure with a later lock
// grant has written the row, ends this one (S70: take over a table in transition). After the point of no return call
// TakenOver first.
[[nodiscard]] std::optional<StepOutcome> SetTableState(StepContext& ctx, const pb::TableData& data, TableState state,
                                                       std::uint64_t change);
// Returns true if an operator bypassed the procedure that made the table ENABLING or DISABLING: the table then stays in
// that state until a later procedure takes it over.
[[nodiscard]] bool IsLeftBehind(const MasterEnv& env, const TableNode& table);
// Returns true if the region contradicts its table's state, no procedure owns it, and no crash procedure will handle
// it. A region closed by an operator in an enabled table is not left behind.
[[nodiscard]] bool IsLeftBehind(const MasterEnv& env, const RegionNode& region);
// Decides this from known facts. `settlement`: of orders to the region's server; nullopt if it has none.
[[nodiscard]] bool IsLeftBehind(const RegionNode& region, TableState table, std::optional<SettlementState> settlement);
[[nodiscard]] bool AnyRegionIs(const MasterEnv& env, const TableName& table, RegionState state);
// SetTableState for undo functions. Returns Ok also if the table is unknown or has no row.
[[nodiscard]] Status UndoTableState(StepContext& ctx, const pb::TableData& data, TableState state,
                                    std::uint64_t change);
// Returns one transition for each region of the table that is not closed, or that another transition owns. Wakes
// procedures that keep trying to open one of the regions, so that they notice that the table is being disabled.
[[nodiscard]] std::vector<ProcedurePtr> UnassignAll(MasterEnv& env, const TableName& table);

// The base of these procedures.
template <class P>
class TableProcedure : public MasterProcedure<P, pb::TableData> {
  using Base = MasterProcedure<P, pb::TableData>;

 public:
  using Base::Base;
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr bool kDeletes = false;
  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(this->data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const { return ClaimTable(this->data_); }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("table", TableOf(this->data_).ToString());
  }
  void OnRecovered(const procedure::EnvRef& env) override {
    RestoreLockGrant(env.As<MasterEnv>(), this->data_, this->pid(), P::kDeletes);
  }
};

}  // namespace ratchet::master
