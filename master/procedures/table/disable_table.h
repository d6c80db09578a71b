// DisableTable: closes the regions of an enabled table, or of one that another procedure is enabling or disabling,
// which it takes over (S70: take over a table in transition). A crash procedure may assign some of them meanwhile, so
// it repeats the check until none is open.
#pragma once

#include <array>
#include <string>

#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class DisableTable final : public MasterProcedure<DisableTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "DisableTable";
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr auto Steps() {
    return std::array{
        On<&DisableTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta),
        On<&DisableTable::SetDisabling>(2, "SET_DISABLING_TABLE_STATE", UndoBy<&DisableTable::BackToFound>(),
                                        kNeedsMeta),
        On<&DisableTable::MarkRegionsOffline>(3, "MARK_REGIONS_OFFLINE", kNoReturn, kNeedsMeta,
                                              Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On<&DisableTable::SetDisabled>(4, "SET_DISABLED_TABLE_STATE", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TableNode& table) { return std::make_unique<DisableTable>(NewTableData(table)); }

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const { return ClaimTable(data_); }
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
