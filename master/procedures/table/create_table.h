// CreateTable: makes directories and rows in hbase:meta, opens the regions, enables the table. It can fail, and be
// undone, only before its regions begin to open.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "common/model/table_descriptor.h"
#include "master/cluster/namespace_directory.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

class CreateTable final : public MasterProcedure<CreateTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "CreateTable";
  static constexpr ClaimKinds kClaims = kClaimsTables;
  static constexpr auto Steps() {
    return std::array{
        On<&CreateTable::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta),
        On<&CreateTable::WriteFsLayout>(2, "WRITE_FS_LAYOUT", UndoBy<&CreateTable::ArchiveLayout>()),
        On<&CreateTable::AddToMeta>(3, "ADD_TO_META", UndoBy<&CreateTable::RemoveFromMeta>(), kNeedsMeta),
        On<&CreateTable::AssignRegions>(4, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                        kReleasesWhileChildrenRun),
        On<&CreateTable::Enable>(5, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta),
        On<&CreateTable::PostOperation>(6, "POST_OPERATION", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TableDescriptor& descriptor, const std::vector<std::string>& split_keys);

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] Claims Uses() const { return ClaimLayout(data_); }
  [[nodiscard]] std::string Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome WriteFsLayout(StepContext& ctx);
  StepOutcome AddToMeta(StepContext& ctx);
  StepOutcome AssignRegions(StepContext& ctx);
  StepOutcome Enable(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  Status ArchiveLayout(StepContext& ctx);
  Status RemoveFromMeta(StepContext& ctx);

  [[nodiscard]] NamespaceDirectory::Claim Claimed() const;  // reservation against the namespace's limits
};

}  // namespace ratchet::master
