// Remove what split and merged regions leave: archive their directories, then remove the rows or columns of hbase:meta
// that name them. The catalog janitor submits them (master/repair/catalog_janitor.h); no region needs them.
//
// GCRegion: a parent whose daughters have been open. GCMultipleMergedRegions: the parents of a merged region.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/core/common.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

class GCRegion final : public MasterProcedure<GCRegion, pb::GCRegionData> {
 public:
  static constexpr std::string_view kTypeName = "GCRegion";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&GCRegion::Prepare>(1, "GC_REGION_PREPARE", kNothingToUndo, kNeedsMeta,
                               Given("no daughter needs the parent's files")),
        On<&GCRegion::Archive>(2, "GC_REGION_ARCHIVE", kNothingToUndo, kNeedsMeta,
                               Given("this procedure owns the region, which is SPLIT")),
        On<&GCRegion::PurgeMetadata>(3, "GC_REGION_PURGE_METADATA", kNothingToUndo, kNeedsMeta,
                                     Given("the region's directory is archived")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const RegionInfo& parent);
  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Archive(StepContext& ctx);
  StepOutcome PurgeMetadata(StepContext& ctx);
  [[nodiscard]] RegionInfo Region() const { return FromData(data_.region()); }
  std::optional<StepOutcome> OwnParent(StepContext& ctx);
};

class GCMultipleMergedRegions final : public MasterProcedure<GCMultipleMergedRegions, pb::GCMergedRegionsData> {
 public:
  static constexpr std::string_view kTypeName = "GCMultipleMergedRegions";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&GCMultipleMergedRegions::Prepare>(1, "GC_MERGED_REGIONS_PREPARE", kNothingToUndo, kNeedsMeta,
                                              Given("the merged region does not need its parents' files")),
        On<&GCMultipleMergedRegions::Archive>(2, "GC_MERGED_REGIONS_PURGE", kNothingToUndo, kNeedsMeta,
                                              Given("the merged region names its parents")),
        On<&GCMultipleMergedRegions::EditMetadata>(3, "GC_REGION_EDIT_METADATA", kNothingToUndo, kNeedsMeta,
                                                   Given("the parents' directories are archived")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const RegionInfo& merged, const std::vector<RegionInfo>& parents);
  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Archive(StepContext& ctx);
  StepOutcome EditMetadata(StepContext& ctx);
  [[nodiscard]] RegionInfo Merged() const { return FromData(data_.merged()); }
};

}  // namespace ratchet::master
