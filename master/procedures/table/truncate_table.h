// TruncateTable: removes all rows of a disabled table, and enables it. It makes a new directory with new regions, one
// commit of hbase:meta replaces the old regions (S40: durable commit point; S41: atomic conditional commit), and then
// the old directory is archived. Everything can be undone until that commit.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/table/table_steps.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

class TruncateTable final : public procedure::StateMachineProcedure<TruncateTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "TruncateTable";
  enum class State : StepNo {
    kPreOperation = 1,
    kSetDisabled = 2,
    kClearFsLayout = 3,
    kCreateFsLayout = 4,
    kUpdateMeta = 5,
    kAssignRegions = 6,
    kPostOperation = 7,
    kEnable = 8,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPreOperation, "PRE_OPERATION", &TruncateTable::PreOperation, kNothingToUndo, procedure::ChildTypes(),
           kReleasesBetweenTries),
        On(State::kSetDisabled, "SET_DISABLED_TABLE_STATE", &TruncateTable::SetDisabled, kNothingToUndo),
        On(State::kCreateFsLayout, "CREATE_FS_LAYOUT", &TruncateTable::CreateFsLayout,
           UndoBy(&TruncateTable::ArchiveLayout)),
        On(State::kUpdateMeta, "UPDATE_META", &TruncateTable::UpdateMeta, kNoReturn),
        On(State::kClearFsLayout, "CLEAR_FS_LAYOUT", &TruncateTable::ClearFsLayout, kNoReturn),
        On(State::kAssignRegions, "ASSIGN_REGIONS", &TruncateTable::AssignRegions, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kEnable, "SET_ENABLED_TABLE_STATE", &TruncateTable::Enable, kNoReturn),
        On(State::kPostOperation, "POST_OPERATION", &TruncateTable::PostOperation, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  // `preserve_splits`: true keeps the region boundaries; false makes one region.
  static ProcedurePtr Make(const TableName& table, bool preserve_splits);

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome SetDisabled(StepContext& ctx);
  StepOutcome CreateFsLayout(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome ClearFsLayout(StepContext& ctx);
  StepOutcome AssignRegions(StepContext& ctx);
  StepOutcome Enable(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  Status ArchiveLayout(StepContext& ctx);
};

}  // namespace ratchet::master
