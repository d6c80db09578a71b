#include "master/procedures/reshape/gc_region.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/region_directory.h"
#include "master/env/meta_table.h"
#include "master/procedures/core/archive_regions.h"

namespace ratchet::master {
namespace {

procedure::LockRequest LockOf(const RegionInfo& region) {
  return procedure::Exclusive(procedure::ResourceKey::Region(region.table.ToString(), region.encoded_name()));
}

}  // namespace

// ---- GCRegion -------------------------------------------------------------------------------------------------------

ProcedurePtr GCRegion::Make(const RegionInfo& parent) {
  pb::GCRegionData data;
  *data.mutable_region() = ToData(parent);
  return std::make_unique<GCRegion>(std::move(data));
}

procedure::LockSet GCRegion::Locks() const { return {LockOf(Region())}; }

procedure::Description GCRegion::Describe() const {
  return procedure::Description().Add("table", Region().table.ToString()).Add("region", Region().encoded_name());
}

// S42 (look again after locking): owns the parent, because otherwise the comparison with hbase:meta would write the row
// again if the answer to its removal is lost. Each state does this, because the ownership is only in memory.
std::optional<StepOutcome> GCRegion::OwnParent(StepContext& ctx) {
  RegionDirectory& regions = EnvOf(ctx).regions;
  const auto node = regions.Get(Region().encoded_name());
  if (!node || node->state != RegionState::kSplit) return Done{"nothing to do: the region is not a parent of a split"};
  // S103 (merged parents are passed on): the janitor retries later
  if (!node->merged_from.empty() && !RATCHET_MUTANT("master.forget_merged_parents"))
    return Done{"nothing to do yet: the region still names the regions that it was merged from"};
  if (RATCHET_MUTANT("master.garbage_of_nobody") || regions.Own(node->encoded, pid())) return std::nullopt;
  return Retry{Error(Code::kUnavailable, fmt::format("the region is in transition by pid={}", node->owner)),
               std::nullopt};
}

StepOutcome GCRegion::Prepare(StepContext& ctx) {
  RATCHET_STEP(OwnParent(ctx));
  return GoTo<&GCRegion::Archive>();
}

StepOutcome GCRegion::Archive(StepContext& ctx) {
  RATCHET_STEP(OwnParent(ctx));
  RATCHET_STEP(ArchiveRegions(ctx, Region().table, {Region().encoded_name()}));
  return GoTo<&GCRegion::PurgeMetadata>();
}

StepOutcome GCRegion::PurgeMetadata(StepContext& ctx) {
  RATCHET_STEP(OwnParent(ctx));
  MasterEnv& env = EnvOf(ctx);
  const std::string encoded = Region().encoded_name();
  RegionRow row;
  row.region = Region();
  row.transition = env.regions.Get(encoded)->reserved + 1;
  RATCHET_STEP(WriteMeta(ctx, "purge", {EditRegion(MetaEdit::Kind::kDeleteRegion, std::move(row))}));
  env.regions.Remove(encoded);
  RATCHET_LOG(kInfo, "pid={} removed region {}, which was split", ctx.pid(), encoded);
  return Done{};
}

// ---- GCMultipleMergedRegions ----------------------------------------------------------------------------------------

ProcedurePtr GCMultipleMergedRegions::Make(const RegionInfo& merged, const std::vector<RegionInfo>& parents) {
  pb::GCMergedRegionsData data;
  *data.mutable_merged() = ToData(merged);
  for (const RegionInfo& parent : parents) *data.add_parents() = ToData(parent);
  return std::make_unique<GCMultipleMergedRegions>(std::move(data));
}

procedure::LockSet GCMultipleMergedRegions::Locks() const {
  procedure::LockSet locks{LockOf(Merged())};
  for (const pb::Region& parent : data_.parents()) locks.Add(LockOf(FromData(parent)));
  return locks;
}

procedure::Description GCMultipleMergedRegions::Describe() const {
  return procedure::Description()
      .Add("table", Merged().table.ToString())
      .Add("merged", Merged().encoded_name())
      .Add("parents", data_.parents_size());
}

StepOutcome GCMultipleMergedRegions::Prepare(StepContext& ctx) {
  const auto node = EnvOf(ctx).regions.Get(Merged().encoded_name());
  if (!node || node->merged_from.empty()) return Done{"nothing to do: the region names no parents"};
  return GoTo<&GCMultipleMergedRegions::Archive>();
}

StepOutcome GCMultipleMergedRegions::Archive(StepContext& ctx) {
  std::vector<std::string> parents;
  for (const pb::Region& parent : data_.parents()) parents.push_back(FromData(parent).encoded_name());
  RATCHET_STEP(ArchiveRegions(ctx, Merged().table, parents));
  return GoTo<&GCMultipleMergedRegions::EditMetadata>();
}

StepOutcome GCMultipleMergedRegions::EditMetadata(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const std::string encoded = Merged().encoded_name();
  const auto node = env.regions.Get(encoded);
  if (!node || node->merged_from.empty()) return Done{};
  RegionRow row;
  row.region = Merged();
  row.merged_from = node->merged_from;
  row.transition = node->reserved;
  RATCHET_STEP(WriteMeta(ctx, "edit", {EditRegion(MetaEdit::Kind::kForgetMerged, std::move(row))}));
  (void)env.regions.Update(encoded, [](RegionNode& shown) { shown.merged_from.clear(); });
  return Done{};
}

}  // namespace ratchet::master
