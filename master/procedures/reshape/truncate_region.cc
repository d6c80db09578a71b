#include "master/procedures/reshape/truncate_region.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/printable.h"
#include "master/cluster/errors.h"
#include "master/cluster/table_directory.h"
#include "master/env/meta_table.h"
#include "master/procedures/core/archive_regions.h"
#include "master/procedures/snapshot/snapshot.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

ProcedurePtr TruncateRegion::Make(const RegionInfo& region) {
  pb::ReshapeData data;
  *data.add_parents()->mutable_region() = ToData(region);
  return std::make_unique<TruncateRegion>(std::move(data));
}

RegionInfo TruncateRegion::Fresh() const {
  RegionInfo fresh = FirstParent();
  fresh.region_id = RegionIdFor(pid());
  return fresh;
}

procedure::Description TruncateRegion::Describe() const {
  procedure::Description about;
  about.Add("table", FirstParent().table.ToString()).Add("region", FirstParent().encoded_name());
  if (data_.children_size() == 1) about.Add("new", FromData(data_.children(0)).encoded_name());
  if (!data_.why().empty()) about.Section().Note("given up: " + PrintableText(data_.why()));
  return about;
}

StepOutcome TruncateRegion::Prepare(StepContext& ctx) {
  if (FirstParent().IsMeta()) return Fail{CatalogStays("Can't truncate region in catalog tables")};
  RATCHET_STEP(RequireMetaLoaded(ctx));
  return ReshapeProcedure::Prepare(ctx);
}

StepOutcome TruncateRegion::UpdateMeta(StepContext& ctx) {
  auto outcome = CommitReshape(ctx, data_, [this](const std::vector<RegionNode>& parents) {
    return ReplaceParents(parents, ChildRows(data_).front());
  });
  RATCHET_STEP(outcome);
  ShowReplaced(EnvOf(ctx), data_, {});
  RATCHET_LOG(kInfo, "pid={} replaced region {} by the empty region {}", ctx.pid(), FirstParent().encoded_name(),
              Fresh().encoded_name());
  data_.set_committed(true);
  return GoTo<&TruncateRegion::Remove>();
}

StepOutcome TruncateRegion::Remove(StepContext& ctx) {
  RATCHET_STEP(ArchiveRegions(ctx, FirstParent().table, {FirstParent().encoded_name()}));
  return GoTo<&TruncateRegion::OpenChildren>();
}

}  // namespace ratchet::master
