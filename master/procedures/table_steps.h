// What create, enable, disable and delete table have in common.
//
// They hold an exclusive lock on their table from the first step, also while they wait or retry, so that what PREPARE found
// stays true; let go while children move its regions, which crash procedures may have to assign meanwhile, and which the
// table's state (ENABLING, DISABLING) keeps other table procedures away from; and hold it again for the last change of that
// state, which others may see in hbase:meta before the step knows that it is made.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "master/assignment/region_directory.h"
#include "master/assignment/table_directory.h"
#include "master/procedures/common.h"
#include "procedure/lock_request.h"

namespace ratchet::master {

[[nodiscard]] TableName TableOf(const pb::TableData& data);
[[nodiscard]] procedure::LockSet TableLock(const pb::TableData& data);
[[nodiscard]] pb::TableData NewTableData(const TableName& table);

// The row that says `state`, as the `change`-th change of procedure `pid`.
[[nodiscard]] MetaEdit TableEdit(const TableNode& table, TableState state, ProcId pid, std::uint64_t change);
// The same in memory, after it is in meta.
void ShowTable(MasterEnv& env, TableNode table, TableState state, ProcId pid, std::uint64_t change);
// Writes the row, then shows it. Nothing once done.
[[nodiscard]] std::optional<StepOutcome> SetTableState(StepContext& ctx, const TableName& table, TableState state,
                                                       std::uint64_t change);
// Whether the procedure that has made the table ENABLING or DISABLING has ended without going on to the next state, because
// an operator bypassed it: then nobody else will, and no other table procedure has the right to.
[[nodiscard]] bool IsLeftBehind(const MasterEnv& env, const TableNode& table);
[[nodiscard]] bool AnyRegionIs(const MasterEnv& env, const TableName& table, RegionState state);
// The same for undo functions. Ok also when the table is not known.
[[nodiscard]] Status UndoTableState(StepContext& ctx, const TableName& table, TableState state, std::uint64_t change);

}  // namespace ratchet::master
