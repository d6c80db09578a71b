// MergeTableRegions: replaces two or more adjacent regions by one. HBase's states; docs/lifecycle.md has the protocol,
// which is the same as for a split: an unclean close, or a build that cannot be done, leads to GIVE_UP.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/build_regions.h"
#include "master/procedures/reshape/reshape.h"
#include "master/procedures/table/flush_table.h"

namespace ratchet::master {

class MergeTableRegions final : public ReshapeProcedure<MergeTableRegions> {
 public:
  static constexpr std::string_view kTypeName = "MergeTableRegions";
  static constexpr std::string_view kOpenAgain = "they are open again";
  static constexpr auto Steps() {
    return std::array{
        On<&MergeTableRegions::Prepare>(1, "PREPARE", UndoBy<&MergeTableRegions::GiveBack>(), kNeedsMeta,
                                        Given("the regions are locked; nothing has changed")),
        On<&MergeTableRegions::Flush>(2, "PRE_MERGE_OPERATION", kNothingToUndo, Spawns<FlushRegion>(), kRunsOn,
                                      Given("this procedure owns the regions")),
        On<&MergeTableRegions::Close>(3, "CLOSE_REGIONS", kNoReturn, Spawns<TransitRegionState>(), kRunsOn,
                                      Given("this procedure owns the regions")),
        On<&MergeTableRegions::CheckClosed>(4, "CHECK_CLOSED_REGIONS", kNoReturn, kNeedsMeta, kRunsOn,
                                            Given("the closes have ended")),
        On<&MergeTableRegions::MakeDirectories>(5, "CREATE_MERGED_REGION", kNoReturn, kNeedsMeta,
                                                Given("every old region was closed cleanly")),
        On<&MergeTableRegions::Build>(6, "WRITE_MERGED_MANIFEST", kNoReturn, kNeedsMeta, Spawns<BuildRegions>(),
                                      kRunsOn, Given("the new regions' directories exist")),
        On<&MergeTableRegions::ConfirmBuild>(7, "CONFIRM_MERGED_MANIFEST", kNoReturn, kRunsOn,
                                             Given("the ordered build has ended")),
        On<&MergeTableRegions::UpdateMeta>(8, "UPDATE_META", kNoReturn, kNeedsMeta,
                                           Given("the first manifests of the new regions are durable")),
        On<&MergeTableRegions::OpenChildren>(9, "OPEN_MERGED_REGION", kNoReturn, kNeedsMeta,
                                             Spawns<TransitRegionState>(), kReleasesWhileChildrenRun, kRunsOn,
                                             Given("hbase:meta names the new regions instead of the old ones")),
        On<&MergeTableRegions::Finish>(10, "POST_OPERATION", kNoReturn, kRunsOn,
                                       Given("the transitions of the new regions have ended")),
        On<&MergeTableRegions::GiveUp>(11, "GIVE_UP", kNoReturn, kNeedsMeta, Spawns<TransitRegionState>(),
                                       kReleasesWhileChildrenRun,
                                       Given("a close was not clean, or no build; hbase:meta is unchanged")),
        On<&MergeTableRegions::RemoveNew>(12, "REMOVE_MERGED_REGION", kNoReturn, kNeedsMeta,
                                          Given("the transitions that reopen the old regions have ended")),
    };
  }
  using ReshapeProcedure::ReshapeProcedure;
  // `parents`: adjacent regions, in any order.
  static ProcedurePtr Make(std::vector<RegionInfo> parents);
  // Returns Ok if the regions are adjacent; otherwise why they cannot be merged.
  [[nodiscard]] static Status CheckNeighbours(std::vector<RegionInfo> parents);

  [[nodiscard]] Status CheckInitial() const override { return CheckNeighbours(ParentsOf(data_)); }
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::vector<RegionInfo> NewRegions() const { return {Merged()}; }
  [[nodiscard]] std::string Subject() const;
  [[nodiscard]] Status Allows(const MasterEnv& env, const TableNode& table) const;

 private:
  friend class ReshapeProcedure<MergeTableRegions>;
  StepOutcome UpdateMeta(StepContext& ctx);

  [[nodiscard]] RegionInfo Merged() const;
  [[nodiscard]] MetaCommit CommitOf(const std::vector<RegionNode>& parents) const;
};

}  // namespace ratchet::master
