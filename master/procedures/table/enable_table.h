// EnableTable: opens the regions of a disabled table.
#pragma once

#include <array>
#include <string>

#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class EnableTable final : public procedure::StateMachineProcedure<EnableTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "EnableTable";
  enum class State : StepNo { kPrepare = 1, kSetEnabling = 2, kMarkRegionsOnline = 3, kSetEnabled = 4 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &EnableTable::Prepare, kNothingToUndo),
        On(State::kSetEnabling, "SET_ENABLING_TABLE_STATE", &EnableTable::SetEnabling,
           UndoBy(&EnableTable::BackToDisabled)),
        On(State::kMarkRegionsOnline, "MARK_REGIONS_ONLINE", &EnableTable::MarkRegionsOnline, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kSetEnabled, "SET_ENABLED_TABLE_STATE", &EnableTable::SetEnabled, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const TableName& table) { return std::make_unique<EnableTable>(NewTableData(table)); }

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("table", TableOf(data_).ToString());
  }
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome SetEnabling(StepContext& ctx);
  StepOutcome MarkRegionsOnline(StepContext& ctx);
  StepOutcome SetEnabled(StepContext& ctx);
  Status BackToDisabled(StepContext& ctx);
};

}  // namespace ratchet::master
