// MergeTableRegions: replaces two or more adjacent regions by one. HBase's states; docs/lifecycle.md has the protocol,
// which is the same as for a split: an unclean close, or a build that cannot be done, leads to GIVE_UP.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/reshape/reshape.h"
#include "procedure/api/rerun_policy.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

class MergeTableRegions final : public MasterProcedure<MergeTableRegions, pb::ReshapeData>,
                                public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "MergeTableRegions";
  static constexpr ClaimKinds kClaims = kClaimsRegions;
  static constexpr auto Steps() {
    return std::array{
        On<&MergeTableRegions::Prepare>(1, "PREPARE", UndoBy<&MergeTableRegions::GiveBack>(), kNeedsMeta),
        On<&MergeTableRegions::PreOperation>(2, "PRE_MERGE_OPERATION", kNothingToUndo, Spawns("FlushRegion")),
        On<&MergeTableRegions::CloseRegions>(3, "CLOSE_REGIONS", kNoReturn, Spawns("TransitRegionState")),
        On<&MergeTableRegions::CheckClosed>(4, "CHECK_CLOSED_REGIONS", kNoReturn, kNeedsMeta),
        On<&MergeTableRegions::CreateMerged>(5, "CREATE_MERGED_REGION", kNoReturn, kNeedsMeta),
        On<&MergeTableRegions::WriteManifest>(6, "WRITE_MERGED_MANIFEST", kNoReturn, kNeedsMeta,
                                              Spawns("BuildRegions")),
        On<&MergeTableRegions::ConfirmManifest>(7, "CONFIRM_MERGED_MANIFEST", kNoReturn),
        On<&MergeTableRegions::UpdateMeta>(8, "UPDATE_META", kNoReturn, kNeedsMeta),
        On<&MergeTableRegions::OpenMerged>(9, "OPEN_MERGED_REGION", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                           kReleasesWhileChildrenRun),
        On<&MergeTableRegions::PostOperation>(10, "POST_OPERATION", kNoReturn),
        On<&MergeTableRegions::GiveUp>(11, "GIVE_UP", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                       kReleasesWhileChildrenRun),
        On<&MergeTableRegions::RemoveMerged>(12, "REMOVE_MERGED_REGION", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `parents`: adjacent regions, in any order.
  static ProcedurePtr Make(std::vector<RegionInfo> parents);
  // Returns Ok if the regions are adjacent; otherwise why they cannot be merged.
  [[nodiscard]] static Status CheckNeighbours(std::vector<RegionInfo> parents);

  [[nodiscard]] procedure::LockSet Locks() const override { return ReshapeLocks(data_, {Merged()}); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override { return CheckNeighbours(ParentsOf(data_)); }
  [[nodiscard]] Status CheckBypass() const override { return CheckReshapeBypass(data_); }
  [[nodiscard]] Claims Uses() const { return ReshapeClaims(data_); }
  [[nodiscard]] std::string Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome CloseRegions(StepContext& ctx);
  StepOutcome CheckClosed(StepContext& ctx);
  StepOutcome CreateMerged(StepContext& ctx);
  StepOutcome WriteManifest(StepContext& ctx);
  StepOutcome ConfirmManifest(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome OpenMerged(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  StepOutcome GiveUp(StepContext& ctx);
  StepOutcome RemoveMerged(StepContext& ctx);
  Status GiveBack(StepContext& ctx);

  [[nodiscard]] RegionInfo Merged() const;
  [[nodiscard]] MetaCommit CommitOf(const std::vector<RegionNode>& parents) const;
};

}  // namespace ratchet::master
