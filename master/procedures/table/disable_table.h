// DisableTable: closes the regions of an enabled table, or of one that another procedure is enabling or disabling,
// which it takes over (S70: take over a table in transition). A crash procedure may assign some of them meanwhile, so
// it repeats the check until none is open.
#pragma once

#include <array>
#include <string>

#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class DisableTable final : public procedure::StateMachineProcedure<DisableTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "DisableTable";
  enum class State : StepNo { kPrepare = 1, kSetDisabling = 2, kMarkRegionsOffline = 3, kSetDisabled = 4 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &DisableTable::Prepare, kNothingToUndo),
        On(State::kSetDisabling, "SET_DISABLING_TABLE_STATE", &DisableTable::SetDisabling,
           UndoBy(&DisableTable::BackToFound)),
        On(State::kMarkRegionsOffline, "MARK_REGIONS_OFFLINE", &DisableTable::MarkRegionsOffline, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kSetDisabled, "SET_DISABLED_TABLE_STATE", &DisableTable::SetDisabled, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const TableNode& table) { return std::make_unique<DisableTable>(NewTableData(table)); }

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("table", TableOf(data_).ToString());
  }
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome SetDisabling(StepContext& ctx);
  StepOutcome MarkRegionsOffline(StepContext& ctx);
  StepOutcome SetDisabled(StepContext& ctx);
  Status BackToFound(StepContext& ctx);
};

}  // namespace ratchet::master
