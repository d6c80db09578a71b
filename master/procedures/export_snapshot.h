// ExportSnapshot: copies a complete snapshot into a directory outside of the cluster (state/snapshot_export.h).
//
// Nothing of the cluster changes, so no step has an undo, and no lock is held: a snapshot never changes, and one that
// is deleted meanwhile lets the export fail. What a failed or aborted export leaves is what the next one to the same
// place goes on from.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/model/proto/snapshot.pb.h"
#include "master/procedures/common.h"
#include "master/procedures/snapshot_data.pb.h"
#include "procedure/author/lock_request.h"
#include "procedure/engine/rerun_policy.h"

namespace ratchet::master {

class ExportSnapshot final : public procedure::StateMachineProcedure<ExportSnapshot, pb::SnapshotTransferData>,
                             public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "ExportSnapshot";
  enum class State : StepNo {
    kPrepare = 1,
    kCopyRegions = 2,
    kComplete = 3,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &ExportSnapshot::Prepare, kNothingToUndo),
        On(State::kCopyRegions, "COPY_REGIONS", &ExportSnapshot::CopyRegions, kNothingToUndo),
        On(State::kComplete, "COMPLETE_EXPORT", &ExportSnapshot::Complete, kNothingToUndo),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const std::string& snapshot, const std::string& place);

  [[nodiscard]] procedure::LockSet Locks() const override { return {}; }
  [[nodiscard]] std::string Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome CopyRegions(StepContext& ctx);
  StepOutcome Complete(StepContext& ctx);
};

// ---- What both directions share.
// Regions that one piece of background work copies; the record says after each how far it is.
inline constexpr int kRegionsAtATime = 16;
// Failures in a row of one piece, each tried again after a pause.
inline constexpr std::uint32_t kMostTransferFailures = 5;

[[nodiscard]] std::string DescribeTransfer(const pb::SnapshotTransferData& data);
[[nodiscard]] std::optional<procedure::PartsLeft> RegionsToTransfer(const pb::SnapshotTransferData& data);
// The next ones of `parts`, by the record. SnapshotDamaged: a part has no sound region.
[[nodiscard]] Result<std::vector<std::string>> NextRegions(const pb::SnapshotTransferData& data,
                                                           const hbase::pb::SnapshotParts& parts);
// Exports and imports that have not ended, `self` left out.
[[nodiscard]] std::size_t UnfinishedTransfers(const MasterEnv& env, ProcId self = ProcId());

}  // namespace ratchet::master
