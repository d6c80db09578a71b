// RestoreSnapshot: replaces the content of a disabled table by a snapshot, including descriptor and region boundaries;
// the table stays disabled. As in a truncation, a new directory with new regions is made, one commit of hbase:meta
// replaces the old regions (S40: durable commit point; S41: atomic conditional commit), and then the old directory is
// archived. Everything can be undone until that commit.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/snapshot/snapshot_copy.h"
#include "master/procedures/table/table_steps.h"
#include "procedure/api/rerun_policy.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

class RestoreSnapshot final : public MasterProcedure<RestoreSnapshot, pb::TableData>,
                              public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "RestoreSnapshot";
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr auto Steps() {
    return std::array{
        On<&RestoreSnapshot::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta, kReleasesBetweenTries),
        On<&RestoreSnapshot::SetDisabled>(2, "SET_DISABLED_TABLE_STATE", kNothingToUndo, kNeedsMeta),
        On<&RestoreSnapshot::WriteFsLayout>(3, "WRITE_FS_LAYOUT", UndoBy<&RestoreSnapshot::ArchiveLayout>()),
        On<&RestoreSnapshot::CopyRegions>(4, "COPY_REGIONS", kNothingToUndo, Spawns("CloneRegion")),
        On<&RestoreSnapshot::ConfirmRegions>(5, "CONFIRM_REGIONS", kNothingToUndo),
        On<&RestoreSnapshot::UpdateMeta>(6, "UPDATE_META", kNoReturn, kNeedsMeta),
        On<&RestoreSnapshot::ClearFsLayout>(7, "CLEAR_FS_LAYOUT", kNoReturn),
        On<&RestoreSnapshot::PostOperation>(8, "POST_OPERATION", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TableName& table, const std::string& snapshot);

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const { return ClaimReplacedLayout(data_); }
  [[nodiscard]] std::string Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override { return CopiesLeft(data_); }
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome SetDisabled(StepContext& ctx);
  StepOutcome WriteFsLayout(StepContext& ctx);
  StepOutcome CopyRegions(StepContext& ctx);
  StepOutcome ConfirmRegions(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome ClearFsLayout(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  Status ArchiveLayout(StepContext& ctx);
};

}  // namespace ratchet::master
