// CloneSnapshot: creates a table from a snapshot. Everything can be undone until the table's row is in hbase:meta; the
// rows are written in the same order as by CreateTable (S66: table row last in, first out). If the snapshot is deleted
// during the copy, the clone fails; after the copy the clone does not need it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/cluster/namespace_directory.h"
#include "master/procedures/assignment/assign_batch.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/snapshot/copy_region.h"
#include "master/procedures/snapshot/snapshot_copy.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class CloneSnapshot final : public CopiedTableProcedure<CloneSnapshot>, public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "CloneSnapshot";
  static constexpr auto Steps() {
    return std::array{
        On<&CloneSnapshot::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta,
                                         Given("the table is locked; nothing has changed")),
        On<&CloneSnapshot::MakeLayout>(2, "WRITE_FS_LAYOUT", UndoBy<&CloneSnapshot::ArchiveLayout>(),
                                       Given("no table has the name; the new directory's name is recorded")),
        On<&CloneSnapshot::CopyRegions>(3, "COPY_REGIONS", kNothingToUndo, Spawns<CloneRegion>(),
                                        Given("the new directory exists")),
        On<&CloneSnapshot::ConfirmRegions>(4, "CONFIRM_REGIONS", kNothingToUndo,
                                           Given("the ordered copies have ended")),
        On<&CloneSnapshot::AddToMeta>(5, "ADD_TO_META", UndoBy<&CloneSnapshot::RemoveFromMeta>(), kNeedsMeta,
                                      Given("each new region has its files")),
        On<&CloneSnapshot::AssignRegions>(
            6, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta, Spawns<AssignBatch, TransitRegionState, RefreshRights>(),
            kReleasesWhileChildrenRun, Given("hbase:meta has the rows of the table and its regions")),
        On<&CloneSnapshot::Enable>(7, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta,
                                   Given("the transitions of the new regions have ended")),
        On<&CloneSnapshot::PostOperation>(8, "POST_OPERATION", kNoReturn, kNeedsMeta,
                                          Given("the table is enabled, or another procedure took it over")),
    };
  }
  using CopiedTableProcedure::CopiedTableProcedure;
  // `owner`: as of CreateTable.
  static ProcedurePtr Make(const TableName& table, const CompleteSnapshot& snapshot, const std::string& owner = {},
                           bool restores_rights = false);

  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome PreOperation(StepContext& ctx);

  [[nodiscard]] NamespaceDirectory::Claim Claimed() const;  // reservation against the namespace's limits
};

}  // namespace ratchet::master
