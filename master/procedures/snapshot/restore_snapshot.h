// RestoreSnapshot: replaces the content of a disabled table by a snapshot, including descriptor and region boundaries;
// the table stays disabled. As in a truncation, a new directory with new regions is made, one commit of hbase:meta
// replaces the old regions (S40: durable commit point; S41: atomic conditional commit), and then the old directory is
// archived. Everything can be undone until that commit.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/table/new_table_procedure.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class RestoreSnapshot final : public NewTableProcedure<RestoreSnapshot>, public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "RestoreSnapshot";
  static constexpr bool kCopies = true;
  static constexpr bool kReplaces = true;
  static constexpr bool kEnables = false;
  static constexpr auto Steps() {
    return std::array{
        On<&RestoreSnapshot::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta, kReleasesBetweenTries),
        On<&RestoreSnapshot::SetDisabled>(2, "SET_DISABLED_TABLE_STATE", kNothingToUndo, kNeedsMeta),
        On<&RestoreSnapshot::MakeLayout>(3, "WRITE_FS_LAYOUT", UndoBy<&RestoreSnapshot::ArchiveLayout>()),
        On<&RestoreSnapshot::CopyRegions>(4, "COPY_REGIONS", kNothingToUndo, Spawns("CloneRegion")),
        On<&RestoreSnapshot::ConfirmRegions>(5, "CONFIRM_REGIONS", kNothingToUndo),
        On<&RestoreSnapshot::UpdateMeta>(6, "UPDATE_META", kNoReturn, kNeedsMeta),
        On<&RestoreSnapshot::ClearLayout>(7, "CLEAR_FS_LAYOUT", kNoReturn),
        On<&RestoreSnapshot::PostOperation>(8, "POST_OPERATION", kNoReturn, kNeedsMeta),
    };
  }
  using NewTableProcedure::NewTableProcedure;
  static ProcedurePtr Make(const TableName& table, const std::string& snapshot);

  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override { return CopiesLeft(data_); }

 private:
  StepOutcome PreOperation(StepContext& ctx);
};

}  // namespace ratchet::master
