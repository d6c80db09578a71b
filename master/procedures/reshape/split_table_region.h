// SplitTableRegion: replaces one region by two daughters. HBase's states; docs/lifecycle.md has the protocol.
//
//   FIND_SPLIT_POINT -> PREPARE ... CLOSE_PARENT_REGION -> CHECK_CLOSED_REGIONS -> CREATE_DAUGHTER_REGIONS
//     -> WRITE_DAUGHTER_MANIFESTS -> CONFIRM_DAUGHTER_MANIFESTS -> UPDATE_META (the commit point)
//     -> OPEN_CHILD_REGIONS -> POST_OPERATION
//   After an unclean close, or if the build cannot be done: GIVE_UP -> REMOVE_DAUGHTER_REGIONS, and it fails.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/reshape/reshape.h"
#include "procedure/api/rerun_policy.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

class SplitTableRegion final : public MasterProcedure<SplitTableRegion, pb::ReshapeData>,
                               public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "SplitTableRegion";
  static constexpr ClaimKinds kClaims = kClaimsRegions;
  static constexpr auto Steps() {
    return std::array{
        On<&SplitTableRegion::FindSplitPoint>(13, "FIND_SPLIT_POINT", kNothingToUndo, Spawns("FlushRegion")),
        On<&SplitTableRegion::Prepare>(1, "PREPARE", UndoBy<&SplitTableRegion::GiveBack>(), kNeedsMeta),
        On<&SplitTableRegion::PreOperation>(2, "PRE_OPERATION", kNothingToUndo, Spawns("FlushRegion")),
        On<&SplitTableRegion::CloseParent>(3, "CLOSE_PARENT_REGION", kNoReturn, Spawns("TransitRegionState")),
        On<&SplitTableRegion::CheckClosed>(4, "CHECK_CLOSED_REGIONS", kNoReturn, kNeedsMeta),
        On<&SplitTableRegion::CreateDaughters>(5, "CREATE_DAUGHTER_REGIONS", kNoReturn, kNeedsMeta),
        On<&SplitTableRegion::WriteManifests>(6, "WRITE_DAUGHTER_MANIFESTS", kNoReturn, kNeedsMeta,
                                              Spawns("BuildRegions")),
        On<&SplitTableRegion::ConfirmManifests>(7, "CONFIRM_DAUGHTER_MANIFESTS", kNoReturn),
        On<&SplitTableRegion::UpdateMeta>(8, "UPDATE_META", kNoReturn, kNeedsMeta),
        On<&SplitTableRegion::OpenChildren>(9, "OPEN_CHILD_REGIONS", kNoReturn, kNeedsMeta,
                                            Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On<&SplitTableRegion::PostOperation>(10, "POST_OPERATION", kNoReturn),
        On<&SplitTableRegion::GiveUp>(11, "GIVE_UP", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                      kReleasesWhileChildrenRun),
        On<&SplitTableRegion::RemoveDaughters>(12, "REMOVE_DAUGHTER_REGIONS", kNoReturn, kNeedsMeta),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `split_key`: the first row of the second daughter, inside the parent's range. Empty: the parent's server chooses a
  // key that makes two regions of about the same size.
  static ProcedurePtr Make(const RegionInfo& parent, const std::string& split_key);

  // Empty before the split key is known, because the daughters' names depend on it.
  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return data_.located(); }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] Status CheckBypass() const override { return CheckReshapeBypass(data_); }
  [[nodiscard]] Claims Uses() const { return ReshapeClaims(data_); }
  [[nodiscard]] std::string Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome FindSplitPoint(StepContext& ctx);
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome CloseParent(StepContext& ctx);
  StepOutcome CheckClosed(StepContext& ctx);
  StepOutcome CreateDaughters(StepContext& ctx);
  StepOutcome WriteManifests(StepContext& ctx);
  StepOutcome ConfirmManifests(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome OpenChildren(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  StepOutcome GiveUp(StepContext& ctx);
  StepOutcome RemoveDaughters(StepContext& ctx);
  Status GiveBack(StepContext& ctx);

  [[nodiscard]] RegionInfo Parent() const { return FromData(data_.parents(0).region()); }
  // Their ids come from the pid, so they are never reused.
  [[nodiscard]] std::vector<RegionInfo> Daughters() const;
  [[nodiscard]] MetaCommit CommitOf(const RegionNode& parent) const;
};

}  // namespace ratchet::master
