// TruncateRegion: replaces an open region by an empty one. HBase's states, and the protocol of a merge
// (docs/lifecycle.md) without a build: closes the region, replaces it in one commit of hbase:meta by a new region with
// the same keys, archives its directory, opens the new region. An unclean close leads to GIVE_UP: the region is opened
// again with all of its rows.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/reshape/reshape.h"
#include "master/procedures/table/flush_table.h"

namespace ratchet::master {

class TruncateRegion final : public ReshapeProcedure<TruncateRegion> {
 public:
  static constexpr std::string_view kTypeName = "TruncateRegion";
  static constexpr bool kBuilds = false;
  static constexpr std::string_view kOpenAgain = "it is open again with its rows";
  static constexpr auto Steps() {
    return std::array{
        On<&TruncateRegion::Prepare>(1, "PREPARE", UndoBy<&TruncateRegion::GiveBack>(),
                                     Given("the regions are locked; nothing has changed")),
        On<&TruncateRegion::Flush>(2, "TRUNCATE_REGION_PRE_OPERATION", kNothingToUndo, Spawns<FlushRegion>(), kRunsOn,
                                   Given("this procedure owns the regions")),
        On<&TruncateRegion::Close>(3, "TRUNCATE_REGION_MAKE_OFFLINE", kNoReturn, Spawns<TransitRegionState>(), kRunsOn,
                                   Given("this procedure owns the regions")),
        On<&TruncateRegion::CheckClosed>(4, "CHECK_CLOSED_REGION", kNoReturn, kNeedsMeta, kRunsOn,
                                         Given("the closes have ended")),
        On<&TruncateRegion::MakeDirectories>(5, "CREATE_REGION", kNoReturn, kNeedsMeta,
                                             Given("every old region was closed cleanly")),
        On<&TruncateRegion::UpdateMeta>(6, "UPDATE_META", kNoReturn, kNeedsMeta,
                                        Given("the new region's directory exists")),
        On<&TruncateRegion::Remove>(7, "TRUNCATE_REGION_REMOVE", kNoReturn, kNeedsMeta,
                                    Given("hbase:meta names the new region instead of the old one")),
        On<&TruncateRegion::OpenChildren>(8, "TRUNCATE_REGION_MAKE_ONLINE", kNoReturn, kNeedsMeta,
                                          Spawns<TransitRegionState>(), kReleasesWhileChildrenRun, kRunsOn,
                                          Given("the old region's directory is archived")),
        On<&TruncateRegion::Finish>(9, "TRUNCATE_REGION_POST_OPERATION", kNoReturn, kRunsOn,
                                    Given("the transitions of the new regions have ended")),
        On<&TruncateRegion::GiveUp>(10, "GIVE_UP", kNoReturn, kNeedsMeta, Spawns<TransitRegionState>(),
                                    kReleasesWhileChildrenRun,
                                    Given("the close was not clean; hbase:meta is unchanged")),
        On<&TruncateRegion::RemoveNew>(11, "REMOVE_NEW_REGION", kNoReturn, kNeedsMeta,
                                       Given("the transitions that reopen the old regions have ended")),
    };
  }
  using ReshapeProcedure::ReshapeProcedure;
  static ProcedurePtr Make(const RegionInfo& region);

  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::vector<RegionInfo> NewRegions() const { return {Fresh()}; }
  [[nodiscard]] std::string Subject() const { return "the truncation of region " + FirstParent().encoded_name(); }

 private:
  friend class ReshapeProcedure<TruncateRegion>;
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome UpdateMeta(StepContext& ctx);
  StepOutcome Remove(StepContext& ctx);

  // Returns a region with the same keys and a new id, because names are never reused (S37: numbered build output).
  [[nodiscard]] RegionInfo Fresh() const;
};

}  // namespace ratchet::master
