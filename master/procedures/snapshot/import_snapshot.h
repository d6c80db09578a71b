// ImportSnapshot: makes a complete snapshot from an export (master/cluster/snapshot_export.h) of this or another
// cluster.
//
// It checks each file against the checksum of the export. As in Snapshot, no step has an undo: the procedure archives
// its directory before it fails, and SnapshotAdmin::CleanUp does so if an operator ends it. It locks no table, because
// the snapshot belongs to no existing table.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/cluster/snapshot_book.h"
#include "master/procedures/snapshot/export_snapshot.h"

namespace ratchet::master {

class ImportSnapshot final : public MasterProcedure<ImportSnapshot, pb::SnapshotTransferData>,
                             public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "ImportSnapshot";
  static constexpr ClaimKinds kClaims = kClaimsExports;
  static constexpr auto Steps() {
    return std::array{
        On<&ImportSnapshot::Prepare>(1, "PREPARE", kNothingToUndo, Given("nothing has changed")),
        On<&ImportSnapshot::WriteInfo>(2, "WRITE_SNAPSHOT_INFO", kNothingToUndo,
                                       Given("the export is complete, and the snapshot's name is reserved")),
        On<&ImportSnapshot::CopyRegions>(3, "COPY_REGIONS", kNothingToUndo, kActsOnStorage,
                                         Given("the snapshot's directory and list of parts exist")),
        On<&ImportSnapshot::Verify>(4, "VERIFIER_SNAPSHOT", kNothingToUndo, Given("all regions are copied")),
        On<&ImportSnapshot::Complete>(5, "COMPLETE_SNAPSHOT", kNoReturn, Given("the parts cover each key once")),
        On<&ImportSnapshot::PostOperation>(6, "POST_OPERATION", kNoReturn, Given("the snapshot is complete")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `name`: empty for the name at the export.
  static ProcedurePtr Make(const std::string& place, const std::string& name);

  [[nodiscard]] procedure::LockSet Locks() const override { return {}; }
  [[nodiscard]] procedure::Description Describe() const override { return DescribeTransfer(data_); }
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override { return RegionsToTransfer(data_); }
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome WriteInfo(StepContext& ctx);
  StepOutcome CopyRegions(StepContext& ctx);
  StepOutcome Verify(StepContext& ctx);
  StepOutcome Complete(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  // Archives the directory, and fails the procedure.
  StepOutcome GiveUp(StepContext& ctx, const Error& why);
  [[nodiscard]] SnapshotHold HoldOf() const { return {pid(), data_.snapshot(), TableName()}; }
};

}  // namespace ratchet::master
