// DeleteTable: removes a disabled table: its row, the rows of its regions, and then its files, which are moved to the
// archive (first stage of the cleaner, S32: two-stage cleaner). In this order no table is ever without its files.
// Cannot be undone once it has begun. A table that is being enabled or disabled is taken over and disabled first (S70:
// take over a table in transition); after the lock grant no other procedure can take it over.
#pragma once

#include <array>
#include <string>

#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class DeleteTable final : public procedure::StateMachineProcedure<DeleteTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "DeleteTable";
  enum class State : StepNo {
    kPreOperation = 1,
    kClearFsLayout = 2,
    kRemoveFromMeta = 3,
    kPostOperation = 4,
    kSetDisabling = 5,
    kMarkRegionsOffline = 6
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPreOperation, "PRE_OPERATION", &DeleteTable::PreOperation, kNothingToUndo),
        On(State::kSetDisabling, "SET_DISABLING_TABLE_STATE", &DeleteTable::SetDisabling, kNoReturn),
        On(State::kMarkRegionsOffline, "MARK_REGIONS_OFFLINE", &DeleteTable::MarkRegionsOffline, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kRemoveFromMeta, "REMOVE_FROM_META", &DeleteTable::RemoveFromMeta, kNoReturn),
        On(State::kClearFsLayout, "CLEAR_FS_LAYOUT", &DeleteTable::ClearFsLayout, kNoReturn),
        On(State::kPostOperation, "POST_OPERATION", &DeleteTable::PostOperation, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const TableNode& table) { return std::make_unique<DeleteTable>(NewTableData(table)); }

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("table", TableOf(data_).ToString());
  }
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome SetDisabling(StepContext& ctx);
  StepOutcome MarkRegionsOffline(StepContext& ctx);
  StepOutcome ClearFsLayout(StepContext& ctx);
  StepOutcome RemoveFromMeta(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
};

}  // namespace ratchet::master
