// TruncateTable: removes all rows of a disabled table, and enables it. It makes a new directory with new regions, one
// commit of hbase:meta replaces the old regions (S40: durable commit point; S41: atomic conditional commit), and then
// the old directory is archived. Everything can be undone until that commit.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/assignment/assign_batch.h"
#include "master/procedures/table/new_table_procedure.h"

namespace ratchet::master {

class TruncateTable final : public NewTableProcedure<TruncateTable> {
 public:
  static constexpr std::string_view kTypeName = "TruncateTable";
  static constexpr bool kReplaces = true;
  static constexpr auto Steps() {
    return std::array{
        On<&TruncateTable::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta, kReleasesBetweenTries,
                                         Given("the table is locked; nothing has changed")),
        On<&TruncateTable::SetDisabled>(
            2, "SET_DISABLED_TABLE_STATE", kNothingToUndo, kNeedsMeta,
            Given("the table is disabled and at rest; the new directory's name is recorded")),
        On<&TruncateTable::MakeLayout>(4, "CREATE_FS_LAYOUT", UndoBy<&TruncateTable::ArchiveLayout>(),
                                       Given("the table's row is DISABLED with the number of this procedure")),
        On<&TruncateTable::UpdateMeta>(5, "UPDATE_META", kNoReturn, kNeedsMeta, Given("the new directory exists")),
        On<&TruncateTable::ClearLayout>(3, "CLEAR_FS_LAYOUT", kNoReturn,
                                        Given("hbase:meta names the new regions only")),
        On<&TruncateTable::AssignRegions>(6, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta,
                                          Spawns<AssignBatch, TransitRegionState>(), kReleasesWhileChildrenRun,
                                          Given("the old directory is archived")),
        On<&TruncateTable::Enable>(8, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta,
                                   Given("the transitions of the new regions have ended")),
        On<&TruncateTable::PostOperation>(7, "POST_OPERATION", kNoReturn, kNeedsMeta,
                                          Given("the table is enabled, or another procedure took it over")),
    };
  }
  using NewTableProcedure::NewTableProcedure;
  // `preserve_splits`: true keeps the region boundaries; false makes one region.
  static ProcedurePtr Make(const TableName& table, bool preserve_splits);

  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome PreOperation(StepContext& ctx);
};

}  // namespace ratchet::master
