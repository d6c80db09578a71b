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

class CreateTable final : public procedure::StateMachineProcedure<CreateTable, pb::TableData> {
 public:
  static constexpr std::string_view kTypeName = "CreateTable";
  enum class State : StepNo {
    kPreOperation = 1,
    kWriteFsLayout = 2,
    kAddToMeta = 3,
    kAssignRegions = 4,
    kEnable = 5,
    kPostOperation = 6,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPreOperation, "PRE_OPERATION", &CreateTable::PreOperation, kNothingToUndo),
        On(State::kWriteFsLayout, "WRITE_FS_LAYOUT", &CreateTable::WriteFsLayout, UndoBy(&CreateTable::ArchiveLayout)),
        On(State::kAddToMeta, "ADD_TO_META", &CreateTable::AddToMeta, UndoBy(&CreateTable::RemoveFromMeta)),
        On(State::kAssignRegions, "ASSIGN_REGIONS", &CreateTable::AssignRegions, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kEnable, "SET_ENABLED_TABLE_STATE", &CreateTable::Enable, kNoReturn),
        On(State::kPostOperation, "POST_OPERATION", &CreateTable::PostOperation, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const TableDescriptor& descriptor, const std::vector<std::string>& split_keys);

  [[nodiscard]] procedure::LockSet Locks() const override { return TableLock(data_); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;
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
