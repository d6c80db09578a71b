// DisableTable: closes the regions of an enabled table, or of one that another procedure is enabling or disabling,
// which it takes over (S70: take over a table in transition). A crash procedure may assign some of them meanwhile, so
// it repeats the check until none is open.
#pragma once

#include <array>
#include <string>

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class DisableTable final : public TableProcedure<DisableTable> {
 public:
  static constexpr std::string_view kTypeName = "DisableTable";
  static constexpr auto Steps() {
    return std::array{
        On<&DisableTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta,
                                   Given("the table is locked; nothing has changed")),
        On<&DisableTable::SetDisabling>(2, "SET_DISABLING_TABLE_STATE", UndoBy<&DisableTable::BackToFound>(),
                                        kNeedsMeta, Given("the table is ENABLED, or was taken over in transition")),
        On<&DisableTable::MarkRegionsOffline>(3, "MARK_REGIONS_OFFLINE", kNoReturn, kNeedsMeta,
                                              Spawns<TransitRegionState>(), kReleasesWhileChildrenRun,
                                              Given("the table is DISABLING, or was taken over")),
        On<&DisableTable::SetDisabled>(4, "SET_DISABLED_TABLE_STATE", kNoReturn, kNeedsMeta,
                                       Given("no server has a region of the table")),
    };
  }
  using TableProcedure::TableProcedure;
  static ProcedurePtr Make(const TableNode& table) { return std::make_unique<DisableTable>(NewTableData(table)); }

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome SetDisabling(StepContext& ctx);
  StepOutcome MarkRegionsOffline(StepContext& ctx);
  StepOutcome SetDisabled(StepContext& ctx);
  Status BackToFound(StepContext& ctx);
};

}  // namespace ratchet::master
