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

class SplitTableRegion final : public procedure::StateMachineProcedure<SplitTableRegion, pb::ReshapeData>,
                               public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "SplitTableRegion";
  enum class State : StepNo {
    kPrepare = 1,
    kPreOperation = 2,
    kCloseParent = 3,
    kCheckClosed = 4,
    kCreateDaughters = 5,
    kWriteManifests = 6,
    kConfirmManifests = 7,
    kUpdateMeta = 8,
    kOpenChildren = 9,
    kPostOperation = 10,
    kGiveUp = 11,
    kRemoveDaughters = 12,
    kFindSplitPoint = 13,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kFindSplitPoint, "FIND_SPLIT_POINT", &SplitTableRegion::FindSplitPoint, kNothingToUndo,
           procedure::Spawns("FlushRegion")),
        On(State::kPrepare, "PREPARE", &SplitTableRegion::Prepare, UndoBy(&SplitTableRegion::GiveBack)),
        On(State::kPreOperation, "PRE_OPERATION", &SplitTableRegion::PreOperation, kNothingToUndo,
           procedure::Spawns("FlushRegion")),
        On(State::kCloseParent, "CLOSE_PARENT_REGION", &SplitTableRegion::CloseParent, kNoReturn,
           procedure::Spawns("TransitRegionState")),
        On(State::kCheckClosed, "CHECK_CLOSED_REGIONS", &SplitTableRegion::CheckClosed, kNoReturn),
        On(State::kCreateDaughters, "CREATE_DAUGHTER_REGIONS", &SplitTableRegion::CreateDaughters, kNoReturn),
        On(State::kWriteManifests, "WRITE_DAUGHTER_MANIFESTS", &SplitTableRegion::WriteManifests, kNoReturn,
           procedure::Spawns("BuildRegions")),
        On(State::kConfirmManifests, "CONFIRM_DAUGHTER_MANIFESTS", &SplitTableRegion::ConfirmManifests, kNoReturn),
        On(State::kUpdateMeta, "UPDATE_META", &SplitTableRegion::UpdateMeta, kNoReturn),
        On(State::kOpenChildren, "OPEN_CHILD_REGIONS", &SplitTableRegion::OpenChildren, kNoReturn,
           procedure::Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On(State::kPostOperation, "POST_OPERATION", &SplitTableRegion::PostOperation, kNoReturn),
        On(State::kGiveUp, "GIVE_UP", &SplitTableRegion::GiveUp, kNoReturn, procedure::Spawns("TransitRegionState"),
           kReleasesWhileChildrenRun),
        On(State::kRemoveDaughters, "REMOVE_DAUGHTER_REGIONS", &SplitTableRegion::RemoveDaughters, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  // `split_key`: the first row of the second daughter, inside the parent's range. Empty: the parent's server chooses a
  // key that makes two regions of about the same size.
  static ProcedurePtr Make(const RegionInfo& parent, const std::string& split_key);

  // Empty before the split key is known, because the daughters' names depend on it.
  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return data_.located(); }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] Status CheckBypass() const override { return CheckReshapeBypass(data_); }
  [[nodiscard]] procedure::Description Describe() const override;
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
