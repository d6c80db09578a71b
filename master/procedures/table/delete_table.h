// DeleteTable: removes a disabled table: its row, the rows of its regions, and then its files, which are moved to the
// archive (first stage of the cleaner, S32: two-stage cleaner). In this order no table is ever without its files.
// Cannot be undone once it has begun. A table that is being enabled or disabled is taken over and disabled first (S70:
// take over a table in transition); after the lock grant no other procedure can take it over.
#pragma once

#include <array>
#include <string>

#include "master/procedures/table/table_steps.h"

namespace ratchet::master {

class DeleteTable final : public MasterProcedure<DeleteTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "DeleteTable";
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr auto Steps() {
    return std::array{
        On<&DeleteTable::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta),
        On<&DeleteTable::SetDisabling>(5, "SET_DISABLING_TABLE_STATE", kNoReturn, kNeedsMeta),
        On<&DeleteTable::MarkRegionsOffline>(6, "MARK_REGIONS_OFFLINE", kNoReturn, kNeedsMeta,
                                             Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On<&DeleteTable::RemoveFromMeta>(3, "REMOVE_FROM_META", kNoReturn, kNeedsMeta),
        On<&DeleteTable::ClearFsLayout>(2, "CLEAR_FS_LAYOUT", kNoReturn),
        On<&DeleteTable::PostOperation>(4, "POST_OPERATION", kNoReturn),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TableNode& table) { return std::make_unique<DeleteTable>(NewTableData(table)); }

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const { return ClaimLayout(data_); }
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
