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

namespace ratchet::master {

class SplitTableRegion final : public ReshapeProcedure<SplitTableRegion> {
 public:
  static constexpr std::string_view kTypeName = "SplitTableRegion";
  static constexpr RegionState kParents = RegionState::kSplitting;
  static constexpr RegionState kChildren = RegionState::kSplittingNew;
  static constexpr auto Steps() {
    return std::array{
        On<&SplitTableRegion::FindSplitPoint>(13, "FIND_SPLIT_POINT", kNothingToUndo, Spawns("FlushRegion")),
        On<&SplitTableRegion::Prepare>(1, "PREPARE", UndoBy<&SplitTableRegion::GiveBack>(), kNeedsMeta),
        On<&SplitTableRegion::Flush>(2, "PRE_OPERATION", kNothingToUndo, Spawns("FlushRegion")),
        On<&SplitTableRegion::Close>(3, "CLOSE_PARENT_REGION", kNoReturn, Spawns("TransitRegionState")),
        On<&SplitTableRegion::CheckClosed>(4, "CHECK_CLOSED_REGIONS", kNoReturn, kNeedsMeta),
        On<&SplitTableRegion::MakeDirectories>(5, "CREATE_DAUGHTER_REGIONS", kNoReturn, kNeedsMeta),
        On<&SplitTableRegion::Build>(6, "WRITE_DAUGHTER_MANIFESTS", kNoReturn, kNeedsMeta, Spawns("BuildRegions")),
        On<&SplitTableRegion::ConfirmBuild>(7, "CONFIRM_DAUGHTER_MANIFESTS", kNoReturn),
        On<&SplitTableRegion::UpdateMeta>(8, "UPDATE_META", kNoReturn, kNeedsMeta),
        On<&SplitTableRegion::OpenChildren>(9, "OPEN_CHILD_REGIONS", kNoReturn, kNeedsMeta,
                                            Spawns("TransitRegionState"), kReleasesWhileChildrenRun),
        On<&SplitTableRegion::Finish>(10, "POST_OPERATION", kNoReturn),
        On<&SplitTableRegion::GiveUp>(11, "GIVE_UP", kNoReturn, kNeedsMeta, Spawns("TransitRegionState"),
                                      kReleasesWhileChildrenRun),
        On<&SplitTableRegion::RemoveNew>(12, "REMOVE_DAUGHTER_REGIONS", kNoReturn, kNeedsMeta),
    };
  }
  using ReshapeProcedure::ReshapeProcedure;
  // `split_key`: the first row of the second daughter, inside the parent's range. Empty: the parent's server chooses a
  // key that makes two regions of about the same size.
  static ProcedurePtr Make(const RegionInfo& parent, const std::string& split_key);

  // Empty before the split key is known, because the daughters' names depend on it.
  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return data_.located(); }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;
  // The daughters. Their ids come from the pid, so they are never reused.
  [[nodiscard]] std::vector<RegionInfo> NewRegions() const;
  [[nodiscard]] std::string Subject() const;
  [[nodiscard]] Status Allows(const MasterEnv& env, const TableNode& table) const;
  [[nodiscard]] Status Reserve(MasterEnv& env) const;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  friend class ReshapeProcedure<SplitTableRegion>;
  StepOutcome FindSplitPoint(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);

  [[nodiscard]] MetaCommit CommitOf(const RegionNode& parent) const;
};

}  // namespace ratchet::master
