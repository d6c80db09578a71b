// CloneSnapshot: creates a table from a snapshot. Everything can be undone until the table's row is in hbase:meta; the
// rows are written in the same order as by CreateTable (S66: table row last in, first out). If the snapshot is deleted
// during the copy, the clone fails; after the copy the clone does not need it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/cluster/namespace_directory.h"
#include "master/procedures/table/new_table_procedure.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class CloneSnapshot final : public NewTableProcedure<CloneSnapshot>, public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "CloneSnapshot";
  static constexpr bool kCopies = true;
  static constexpr auto Steps() {
    return std::array{
        On<&CloneSnapshot::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta),
        On<&CloneSnapshot::MakeLayout>(2, "WRITE_FS_LAYOUT", UndoBy<&CloneSnapshot::ArchiveLayout>()),
        On<&CloneSnapshot::CopyRegions>(3, "COPY_REGIONS", kNothingToUndo, Spawns("CloneRegion")),
        On<&CloneSnapshot::ConfirmRegions>(4, "CONFIRM_REGIONS", kNothingToUndo),
        On<&CloneSnapshot::AddToMeta>(5, "ADD_TO_META", UndoBy<&CloneSnapshot::RemoveFromMeta>(), kNeedsMeta),
        On<&CloneSnapshot::AssignRegions>(6, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                          kReleasesWhileChildrenRun),
        On<&CloneSnapshot::Enable>(7, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta),
        On<&CloneSnapshot::PostOperation>(8, "POST_OPERATION", kNoReturn, kNeedsMeta),
    };
  }
  using NewTableProcedure::NewTableProcedure;
  static ProcedurePtr Make(const TableName& table, const std::string& snapshot);

  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override { return CopiesLeft(data_); }
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome PreOperation(StepContext& ctx);

  [[nodiscard]] NamespaceDirectory::Claim Claimed() const;  // reservation against the namespace's limits
};

}  // namespace ratchet::master
