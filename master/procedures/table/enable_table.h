// EnableTable: opens the regions of a disabled table.
#pragma once

#include <array>
#include <string>

#include "master/procedures/assignment/assign_batch.h"
#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class EnableTable final : public TableProcedure<EnableTable> {
 public:
  static constexpr std::string_view kTypeName = "EnableTable";
  static constexpr auto Steps() {
    return std::array{
        On<&EnableTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta,
                                  Given("the table is locked; nothing has changed")),
        On<&EnableTable::SetEnabling>(2, "SET_ENABLING_TABLE_STATE", UndoBy<&EnableTable::BackToDisabled>(), kNeedsMeta,
                                      Given("the table is DISABLED, or an earlier enable left it ENABLING")),
        On<&EnableTable::MarkRegionsOnline>(3, "MARK_REGIONS_ONLINE", kNoReturn, kNeedsMeta,
                                            Spawns<AssignBatch, TransitRegionState>(), kReleasesWhileChildrenRun,
                                            Given("the table is ENABLING")),
        On<&EnableTable::SetEnabled>(4, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta,
                                     Given("the transitions of the regions have ended")),
    };
  }
  using TableProcedure::TableProcedure;
  static ProcedurePtr Make(const TableName& table) { return std::make_unique<EnableTable>(NewTableData(table)); }

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome SetEnabling(StepContext& ctx);
  StepOutcome MarkRegionsOnline(StepContext& ctx);
  StepOutcome SetEnabled(StepContext& ctx);
  Status BackToDisabled(StepContext& ctx);
};

}  // namespace ratchet::master
