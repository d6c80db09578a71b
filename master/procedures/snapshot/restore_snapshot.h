// RestoreSnapshot: replaces the content of a disabled table by a snapshot, including descriptor and region boundaries;
// the table stays disabled. As in a truncation, a new directory with new regions is made, one commit of hbase:meta
// replaces the old regions (S40: durable commit point; S41: atomic conditional commit), and then the old directory is
// archived. Everything can be undone until that commit.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/snapshot/copy_region.h"
#include "master/procedures/snapshot/snapshot_copy.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class RestoreSnapshot final : public CopiedTableProcedure<RestoreSnapshot>, public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "RestoreSnapshot";
  static constexpr bool kReplaces = true;
  static constexpr bool kEnables = false;
  static constexpr bool kTakesRights = true;
  static constexpr auto Steps() {
    return std::array{
        On<&RestoreSnapshot::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta, kReleasesBetweenTries,
                                           Given("the table is locked; nothing has changed")),
        On<&RestoreSnapshot::SetDisabled>(
            2, "SET_DISABLED_TABLE_STATE", kNothingToUndo, kNeedsMeta,
            Given("the table is disabled and at rest; the new directory's name is recorded")),
        On<&RestoreSnapshot::MakeLayout>(3, "WRITE_FS_LAYOUT", UndoBy<&RestoreSnapshot::ArchiveLayout>(),
                                         Given("the table's row is DISABLED with the number of this procedure")),
        On<&RestoreSnapshot::CopyRegions>(4, "COPY_REGIONS", kNothingToUndo, Spawns<CloneRegion>(),
                                          Given("the new directory exists")),
        On<&RestoreSnapshot::ConfirmRegions>(5, "CONFIRM_REGIONS", kNothingToUndo,
                                             Given("the ordered copies have ended")),
        On<&RestoreSnapshot::UpdateMeta>(6, "UPDATE_META", kNoReturn, kNeedsMeta,
                                         Given("each new region has its files")),
        On<&RestoreSnapshot::TakeRights>(9, "TAKE_RIGHTS", kNoReturn, Spawns<RefreshRights>(),
                                         Given("hbase:meta names the new regions; its changed rights are stored")),
        On<&RestoreSnapshot::ClearLayout>(7, "CLEAR_FS_LAYOUT", kNoReturn,
                                          Given("hbase:meta names the new regions only")),
        On<&RestoreSnapshot::PostOperation>(8, "POST_OPERATION", kNoReturn, kNeedsMeta,
                                            Given("the old directory is archived")),
    };
  }
  using CopiedTableProcedure::CopiedTableProcedure;
  static ProcedurePtr Make(const TableName& table, const CompleteSnapshot& snapshot, bool restores_rights = false);

 private:
  StepOutcome PreOperation(StepContext& ctx);
};

}  // namespace ratchet::master
