// What create, enable, disable and delete table have in common.
//
// They hold an exclusive lock on their table from the first step, also while they wait or retry, so that what PREPARE
// found stays true; let go while children move its regions, which crash procedures may have to assign meanwhile; and
// hold it again for the last change of that state, which others may see in hbase:meta before the step knows that it is
// made.
//
// Procedures are granted the lock in the order of their turns, which after a pause is not the order of their pids.
// Nothing that decides between two of them comes from a pid: the numbers of a row's changes are taken at the turn
// (S69). A table in ENABLING or DISABLING may be disabled or deleted by a later turn, so that no state is a trap; the
// procedure that it takes the table over from notices when it holds the lock again, changes nothing, and says so in its
// result (S70).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/common.h"
#include "master/state/region_directory.h"
#include "master/state/table_directory.h"
#include "procedure/author/lock_request.h"

namespace ratchet::master {

[[nodiscard]] TableName TableOf(const pb::TableData& data);
[[nodiscard]] procedure::LockSet TableLock(const pb::TableData& data);
[[nodiscard]] pb::TableData NewTableData(const TableName& table);

// The table's turn of procedure `pid`, in the step that checks whether it may go on. `found`: the table's state; none:
// it is being made.
void TakeTurn(MasterEnv& env, pb::TableData& data, ProcId pid, std::optional<TableState> found, bool deletes = false);
// For Procedure::OnRecovered.
void RestoreTurn(MasterEnv& env, const pb::TableData& data, ProcId pid, bool deletes = false);
// The number of the `change`-th change of procedure `pid`.
[[nodiscard]] std::uint64_t ChangeNumber(const pb::TableData& data, ProcId pid, std::uint64_t change);
// A later turn has changed the table, or it is gone: this one has nothing left to do, and its result says why.
[[nodiscard]] std::optional<std::string> TakenOver(const MasterEnv& env, const pb::TableData& data, ProcId pid);
// The first words of that result.
inline constexpr std::string_view kTakenOver = "taken over: ";
// The result of a deletion that began between two states.
inline constexpr std::string_view kDisabledFirst = "disabled first";
[[nodiscard]] constexpr bool IsBetween(TableState state) {
  return state == TableState::kEnabling || state == TableState::kDisabling;
}
// The data of a request to disable or delete the table as it is now.
[[nodiscard]] pb::TableData NewTableData(const TableNode& table);
// At its turn: the table is between two states, as it was when the request was made, and nothing is deleting it.
[[nodiscard]] bool MayTakeOver(const MasterEnv& env, const pb::TableData& data, const TableNode& table);

// The row that says `state`, as the `change`-th change of the procedure.
[[nodiscard]] MetaEdit TableEdit(const TableNode& table, TableState state, std::uint64_t number);
// The same in memory, after it is in meta.
void ShowTable(MasterEnv& env, TableNode table, TableState state, std::uint64_t number);
// Writes the row, then shows it. Nothing once done. Fails when the table is gone: a write of a deletion that an
// operator ended was under way when PREPARE looked, and a new master has read what it did. Behind the point of no
// return: TakenOver, first.
[[nodiscard]] std::optional<StepOutcome> SetTableState(StepContext& ctx, const pb::TableData& data, TableState state,
                                                       std::uint64_t change);
// Whether the procedure that has made the table ENABLING or DISABLING has ended without going on to the next state,
// because an operator bypassed it: then no other part will, unless a later turn takes the table over.
[[nodiscard]] bool IsLeftBehind(const MasterEnv& env, const TableNode& table);
// A region that is not as its table's state asks for, that no procedure owns, and whose server's crash procedure does
// not take it. Closed in an enabled table is what an operator has asked for.
[[nodiscard]] bool IsLeftBehind(const MasterEnv& env, const RegionNode& region);
[[nodiscard]] bool AnyRegionIs(const MasterEnv& env, const TableName& table, RegionState state);
// The same for undo functions. Ok also when the table is not known.
[[nodiscard]] Status UndoTableState(StepContext& ctx, const pb::TableData& data, TableState state,
                                    std::uint64_t change);
// One transition for each region of the table that is not closed yet, or that another transition owns. What keeps
// trying to open one of them is woken, to see that the table is going.
[[nodiscard]] std::vector<ProcedurePtr> UnassignAll(MasterEnv& env, const TableName& table);

}  // namespace ratchet::master
