// DeleteTable: removes a disabled table: its row, the rows of its regions, and then its files, which are moved to the
// archive (first stage of the cleaner, S32: two-stage cleaner). In this order no table is ever without its files.
// Cannot be undone once it has begun. A table that is being enabled or disabled is taken over and disabled first (S70:
// take over a table in transition); after the lock grant no other procedure can take it over.
#pragma once

#include <array>
#include <string>

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class DeleteTable final : public TableProcedure<DeleteTable> {
 public:
  static constexpr std::string_view kTypeName = "DeleteTable";
  static constexpr bool kDeletes = true;
  static constexpr auto Steps() {
    return std::array{
        On<&DeleteTable::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta,
                                       Given("the table is locked; nothing has changed")),
        On<&DeleteTable::SetDisabling>(5, "SET_DISABLING_TABLE_STATE", kNoReturn, kNeedsMeta,
                                       Given("the table may be deleted, and it or a region is not at rest")),
        On<&DeleteTable::MarkRegionsOffline>(6, "MARK_REGIONS_OFFLINE", kNoReturn, kNeedsMeta,
                                             Spawns<TransitRegionState>(), kReleasesWhileChildrenRun,
                                             Given("the table is DISABLING")),
        On<&DeleteTable::RemoveFromMeta>(3, "REMOVE_FROM_META", kNoReturn, kNeedsMeta,
                                         Given("no server has a region of the table")),
        On<&DeleteTable::TakeRights>(7, "TAKE_RIGHTS", kNoReturn, Spawns<RefreshRights>(),
                                     Given("hbase:meta has no row of the table; its rights are removed")),
        On<&DeleteTable::ClearFsLayout>(2, "CLEAR_FS_LAYOUT", kNoReturn, Given("hbase:meta has no row of the table")),
        On<&DeleteTable::PostOperation>(4, "POST_OPERATION", kNoReturn, Given("the table's files are archived")),
    };
  }
  using TableProcedure::TableProcedure;
  static ProcedurePtr Make(const TableNode& table) { return std::make_unique<DeleteTable>(NewTableData(table)); }

  [[nodiscard]] Claims Uses() const { return ClaimLayout(data_); }

 private:
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome SetDisabling(StepContext& ctx);
  StepOutcome MarkRegionsOffline(StepContext& ctx);
  StepOutcome TakeRights(StepContext& ctx);
  StepOutcome ClearFsLayout(StepContext& ctx);
  StepOutcome RemoveFromMeta(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
};

}  // namespace ratchet::master
