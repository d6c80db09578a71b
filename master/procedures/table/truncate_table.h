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

class TruncateTable final : public MasterProcedure<TruncateTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "TruncateTable";
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr auto Steps() {
    return std::array{
        On<&TruncateTable::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta, kReleasesBetweenTries),
        On<&TruncateTable::SetDisabled>(2, "SET_DISABLED_TABLE_STATE", kNothingToUndo, kNeedsMeta),
        On<&TruncateTable::CreateFsLayout>(4, "CREATE_FS_LAYOUT", UndoBy<&TruncateTable::ArchiveLayout>()),
        On<&TruncateTable::UpdateMeta>(5, "UPDATE_META", kNoReturn, kNeedsMeta),
        On<&TruncateTable::ClearFsLayout>(3, "CLEAR_FS_LAYOUT", kNoReturn),
        On<&TruncateTable::AssignRegions>(6, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                          kReleasesWhileChildrenRun),
        On<&TruncateTable::Enable>(8, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta),
        On<&TruncateTable::PostOperation>(7, "POST_OPERATION", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `preserve_splits`: true keeps the region boundaries; false makes one region.
  static ProcedurePtr Make(const TableName& table, bool preserve_splits);

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const { return ClaimReplacedLayout(data_); }
  [[nodiscard]] std::string Describe() const override;
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
