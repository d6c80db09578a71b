// ExportSnapshot: copies a complete snapshot into a directory outside of the cluster
// (master/cluster/snapshot_export.h).
//
// The cluster is not changed, so no step has an undo. No lock is held, because a snapshot never changes; if it is
// deleted meanwhile, the export fails. The next export to the same place continues a failed or aborted one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/model/proto/snapshot.pb.h"
#include "master/procedures/core/common.h"
#include "master/procedures/snapshot/snapshot_data.pb.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class ExportSnapshot final : public MasterProcedure<ExportSnapshot, pb::SnapshotTransferData>,
                             public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "ExportSnapshot";
  static constexpr ClaimKinds kClaims = kClaimsExports;
  static constexpr auto Steps() {
    return std::array{
        On<&ExportSnapshot::Prepare>(1, "PREPARE", kNothingToUndo, Given("nothing has changed")),
        On<&ExportSnapshot::CopyRegions>(2, "COPY_REGIONS", kNothingToUndo, kActsOnStorage,
                                         Given("the export names its source, and the counted regions are copied")),
        On<&ExportSnapshot::Complete>(3, "COMPLETE_EXPORT", kNothingToUndo, Given("all regions are copied")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const std::string& snapshot, const std::string& place);

  // Locks the place until it belongs to this snapshot, so that no other export checks and takes it meanwhile.
  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome CopyRegions(StepContext& ctx);
  StepOutcome Complete(StepContext& ctx);
};

// ---- Shared by export and import. Number of regions that one background task copies; the record counts the finished
// regions after each task.
inline constexpr int kRegionsAtATime = 16;
// Maximum number of failures of one task in a row; each is retried after a pause.
inline constexpr std::uint32_t kMostTransferFailures = 5;

[[nodiscard]] procedure::Description DescribeTransfer(const pb::SnapshotTransferData& data);
[[nodiscard]] std::optional<procedure::PartsLeft> RegionsToTransfer(const pb::SnapshotTransferData& data);
// Returns the regions of `parts` that the record names as the next ones. Error SnapshotDamaged: a part names no valid
// region.
[[nodiscard]] Result<std::vector<std::string>> NextRegions(const pb::SnapshotTransferData& data,
                                                           const hbase::pb::SnapshotParts& parts);

}  // namespace ratchet::master
