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

class RestoreSnapshot final : public procedure::StateMachineProcedure<RestoreSnapshot, pb::TableData>,
                              public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "RestoreSnapshot";
  enum class State : StepNo {
    kPreOperation = 1,
    kSetDisabled = 2,
    kWriteFsLayout = 3,
    kCopyRegions = 4,
    kConfirmRegions = 5,
    kUpdateMeta = 6,
    kClearFsLayout = 7,
    kPostOperation = 8,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPreOperation, "PRE_OPERATION", &RestoreSnapshot::PreOperation, kNothingToUndo,
           procedure::ChildTypes(), kReleasesBetweenTries),
        On(State::kSetDisabled, "SET_DISABLED_TABLE_STATE", &RestoreSnapshot::SetDisabled, kNothingToUndo),
        On(State::kWriteFsLayout, "WRITE_FS_LAYOUT", &RestoreSnapshot::WriteFsLayout,
           UndoBy(&RestoreSnapshot::ArchiveLayout)),
        On(State::kCopyRegions, "COPY_REGIONS", &RestoreSnapshot::CopyRegions, kNothingToUndo,
           procedure::Spawns("CloneRegion")),
        On(State::kConfirmRegions, "CONFIRM_REGIONS", &RestoreSnapshot::ConfirmRegions, kNothingToUndo),
        On(State::kUpdateMeta, "UPDATE_META", &RestoreSnapshot::UpdateMeta, kNoReturn),
        On(State::kClearFsLayout, "CLEAR_FS_LAYOUT", &RestoreSnapshot::ClearFsLayout, kNoReturn),
        On(State::kPostOperation, "POST_OPERATION", &RestoreSnapshot::PostOperation, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const TableName& table, const std::string& snapshot);

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override;
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
