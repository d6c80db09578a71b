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

class MergeTableRegions final : public procedure::StateMachineProcedure<MergeTableRegions, pb::ReshapeData>,
                                public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "MergeTableRegions";
  enum class State : StepNo {
    kPrepare = 1,
    kPreOperation = 2,
    kCloseRegions = 3,
    kCheckClosed = 4,
    kCreateMerged = 5,
    kWriteManifest = 6,
    kConfirmManifest = 7,
    kUpdateMeta = 8,
    kOpenMerged = 9,
    kPostOperation = 10,
    kGiveUp = 11,
    kRemoveMerged = 12,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &MergeTableRegions::Prepare, UndoBy(&MergeTableRegions::GiveBack)),
        On(State::kPreOperation, "PRE_MERGE_OPERATION", &MergeTableRegions::PreOperation, kNothingToUndo,
           procedure::Spawns("FlushRegion")),
        On(State::kCloseRegions, "CLOSE_REGIONS", &MergeTableRegions::CloseRegions, kNoReturn,
           procedure::Spawns("TransitRegionState")),
        On(State::kCheckClosed, "CHECK_CLOSED_REGIONS", &MergeTableRegions::CheckClosed, kNoReturn),
        On(State::kCreateMerged, "CREATE_MERGED_REGION", &MergeTableRegions::CreateMerged, kNoReturn),
        On(State::kWriteManifest, "WRITE_MERGED_MANIFEST", &MergeTableRegions::WriteManifest, kNoReturn,
           procedure::Spawns("BuildRegions")),
        On(State::kConfirmManifest, "CONFIRM_MERGED_MANIFEST", &MergeTableRegions::ConfirmManifest, kNoReturn),
        On(State::kUpdateMeta, "UPDATE_META", &MergeTableRegions::UpdateMeta, kNoReturn),
        On(State::kOpenMerged, "OPEN_MERGED_REGION", &MergeTableRegions::OpenMerged, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kPostOperation, "POST_OPERATION", &MergeTableRegions::PostOperation, kNoReturn),
        On(State::kGiveUp, "GIVE_UP", &MergeTableRegions::GiveUp, kNoReturn, procedure::Spawns("TransitRegionState"),
           kReleasesWhileChildrenRun),
        On(State::kRemoveMerged, "REMOVE_MERGED_REGION", &MergeTableRegions::RemoveMerged, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  // `parents`: adjacent regions, in any order.
  static ProcedurePtr Make(std::vector<RegionInfo> parents);
  // Returns Ok if the regions are adjacent; otherwise why they cannot be merged.
  [[nodiscard]] static Status CheckNeighbours(std::vector<RegionInfo> parents);

  [[nodiscard]] procedure::LockSet Locks() const override { return ReshapeLocks(data_, {Merged()}); }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override { return CheckNeighbours(ParentsOf(data_)); }
  [[nodiscard]] Status CheckBypass() const override { return CheckReshapeBypass(data_); }
  [[nodiscard]] procedure::Description Describe() const override;
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
