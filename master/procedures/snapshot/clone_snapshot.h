// CloneSnapshot: creates a table from a snapshot. Everything can be undone until the table's row is in hbase:meta; the
// rows are written in the same order as by CreateTable (S66: table row last in, first out). If the snapshot is deleted
// during the copy, the clone fails; after the copy the clone does not need it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/cluster/namespace_directory.h"
#include "master/procedures/snapshot/snapshot_copy.h"
#include "master/procedures/table/table_steps.h"
#include "procedure/api/rerun_policy.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

class CloneSnapshot final : public procedure::StateMachineProcedure<CloneSnapshot, pb::TableData>,
                            public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "CloneSnapshot";
  enum class State : StepNo {
    kPreOperation = 1,
    kWriteFsLayout = 2,
    kCopyRegions = 3,
    kConfirmRegions = 4,
    kAddToMeta = 5,
    kAssignRegions = 6,
    kEnable = 7,
    kPostOperation = 8,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPreOperation, "PRE_OPERATION", &CloneSnapshot::PreOperation, kNothingToUndo),
        On(State::kWriteFsLayout, "WRITE_FS_LAYOUT", &CloneSnapshot::WriteFsLayout,
           UndoBy(&CloneSnapshot::ArchiveLayout)),
        On(State::kCopyRegions, "COPY_REGIONS", &CloneSnapshot::CopyRegions, kNothingToUndo,
           procedure::Spawns("CloneRegion")),
        On(State::kConfirmRegions, "CONFIRM_REGIONS", &CloneSnapshot::ConfirmRegions, kNothingToUndo),
        On(State::kAddToMeta, "ADD_TO_META", &CloneSnapshot::AddToMeta, UndoBy(&CloneSnapshot::RemoveFromMeta)),
        On(State::kAssignRegions, "ASSIGN_REGIONS", &CloneSnapshot::AssignRegions, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kEnable, "SET_ENABLED_TABLE_STATE", &CloneSnapshot::Enable, kNoReturn),
        On(State::kPostOperation, "POST_OPERATION", &CloneSnapshot::PostOperation, kNoReturn),
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
  StepOutcome WriteFsLayout(StepContext& ctx);
  StepOutcome CopyRegions(StepContext& ctx);
  StepOutcome ConfirmRegions(StepContext& ctx);
  StepOutcome AddToMeta(StepContext& ctx);
  StepOutcome AssignRegions(StepContext& ctx);
  StepOutcome Enable(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  Status ArchiveLayout(StepContext& ctx);
  Status RemoveFromMeta(StepContext& ctx);

  [[nodiscard]] NamespaceDirectory::Claim Claimed() const;  // reservation against the namespace's limits
};

}  // namespace ratchet::master
