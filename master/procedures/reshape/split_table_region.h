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

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/build_regions.h"
#include "master/procedures/reshape/reshape.h"
#include "master/procedures/table/flush_table.h"

namespace ratchet::master {

class SplitTableRegion final : public ReshapeProcedure<SplitTableRegion> {
 public:
  static constexpr std::string_view kTypeName = "SplitTableRegion";
  static constexpr RegionState kParents = RegionState::kSplitting;
  static constexpr RegionState kChildren = RegionState::kSplittingNew;
  static constexpr auto Steps() {
    return std::array{
        On<&SplitTableRegion::FindSplitPoint>(13, "FIND_SPLIT_POINT", kNothingToUndo, Spawns<FlushRegion>(),
                                              Given("nothing has changed; no lock is held")),
        On<&SplitTableRegion::Prepare>(1, "PREPARE", UndoBy<&SplitTableRegion::GiveBack>(), kNeedsMeta, kRunsOn,
                                       Given("the regions are locked; nothing has changed")),
        On<&SplitTableRegion::Flush>(2, "PRE_OPERATION", kNothingToUndo, Spawns<FlushRegion>(), kRunsOn,
                                     Given("this procedure owns the regions")),
        On<&SplitTableRegion::Close>(3, "CLOSE_PARENT_REGION", kNoReturn, Spawns<TransitRegionState>(), kRunsOn,
                                     Given("this procedure owns the regions")),
        On<&SplitTableRegion::CheckClosed>(4, "CHECK_CLOSED_REGIONS", kNoReturn, kNeedsMeta, kRunsOn,
                                           Given("the closes have ended")),
        On<&SplitTableRegion::MakeDirectories>(5, "CREATE_DAUGHTER_REGIONS", kNoReturn, kNeedsMeta,
                                               Given("every old region was closed cleanly")),
        On<&SplitTableRegion::Build>(6, "WRITE_DAUGHTER_MANIFESTS", kNoReturn, kNeedsMeta, Spawns<BuildRegions>(),
                                     kRunsOn, Given("the new regions' directories exist")),
        On<&SplitTableRegion::ConfirmBuild>(7, "CONFIRM_DAUGHTER_MANIFESTS", kNoReturn, kRunsOn,
                                            Given("the ordered build has ended")),
        On<&SplitTableRegion::UpdateMeta>(8, "UPDATE_META", kNoReturn, kNeedsMeta,
                                          Given("the first manifests of the new regions are durable")),
        On<&SplitTableRegion::OpenChildren>(9, "OPEN_CHILD_REGIONS", kNoReturn, kNeedsMeta,
                                            Spawns<TransitRegionState>(), kReleasesWhileChildrenRun, kRunsOn,
                                            Given("hbase:meta names the new regions instead of the old ones")),
        On<&SplitTableRegion::Finish>(10, "POST_OPERATION", kNoReturn, kRunsOn,
                                      Given("the transitions of the new regions have ended")),
        On<&SplitTableRegion::GiveUp>(11, "GIVE_UP", kNoReturn, kNeedsMeta, Spawns<TransitRegionState>(),
                                      kReleasesWhileChildrenRun,
                                      Given("a close was not clean, or no build; hbase:meta is unchanged")),
        On<&SplitTableRegion::RemoveNew>(12, "REMOVE_DAUGHTER_REGIONS", kNoReturn, kNeedsMeta,
                                         Given("the transitions that reopen the old regions have ended")),
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
