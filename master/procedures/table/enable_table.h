// EnableTable: opens the regions of a disabled table.
#pragma once

#include <array>
#include <string>

#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class EnableTable final : public MasterProcedure<EnableTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "EnableTable";
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr auto Steps() {
    return std::array{
        On<&EnableTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta),
        On<&EnableTable::SetEnabling>(2, "SET_ENABLING_TABLE_STATE", UndoBy<&EnableTable::BackToDisabled>(),
                                      kNeedsMeta),
        On<&EnableTable::MarkRegionsOnline>(3, "MARK_REGIONS_ONLINE", kNoReturn, kNeedsMeta,
                                            Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On<&EnableTable::SetEnabled>(4, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TableName& table) { return std::make_unique<EnableTable>(NewTableData(table)); }

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const { return ClaimTable(data_); }
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
