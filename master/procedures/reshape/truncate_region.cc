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
  RegionInfo fresh = Old();
  fresh.region_id = RegionIdFor(pid());
  return fresh;
}

std::string TruncateRegion::Describe() const {
  std::string text = fmt::format("table={}, region={}", Old().table.ToString(), Old().encoded_name());
  if (data_.children_size() == 1) text += ", new=" + FromData(data_.children(0)).encoded_name();
  if (!data_.why().empty()) text += fmt::format("; given up: {}", PrintableText(data_.why()));
  return text;
}

StepOutcome TruncateRegion::Prepare(StepContext& ctx) {
  if (Old().IsMeta()) return Fail{CatalogStays("Can't truncate region in catalog tables")};
  RATCHET_STEP(RequireMetaLoaded(ctx));
  const TableName name = Old().table;
  const auto table = EnvOf(ctx).tables.Get(name);
  if (!table) return Fail{TableNotFound(name)};
  if (table->state != TableState::kEnabled) return Fail{TableNotEnabled(name)};
  if (Status free = NotHeld(EnvOf(ctx), name); !free.ok()) return Fail{free.error()};
  data_.clear_children();
  *data_.add_children() = ToData(Fresh());
  const Status owned = OwnRegions(EnvOf(ctx), data_, pid(), RegionState::kMerging, RegionState::kMergingNew);
  if (!owned.ok()) return Fail{owned.error()};
  return GoTo<&TruncateRegion::PreOperation>();
}

// Flushes, so that the close is short.
StepOutcome TruncateRegion::PreOperation(StepContext& /*ctx*/) {
  return SpawnThen<&TruncateRegion::MakeOffline>(FlushParents(data_));
}

Status TruncateRegion::GiveBack(StepContext& ctx) {
  data_.clear_children();
  *data_.add_children() = ToData(Fresh());
  GiveBackRegions(EnvOf(ctx), data_, pid());
  data_.set_begun(false);  // a restart from here on restores nothing
  return Ok();
}

StepOutcome TruncateRegion::MakeOffline(StepContext& /*ctx*/) {
  return SpawnThen<&TruncateRegion::CheckClosed>(CloseParents(data_));
}

StepOutcome TruncateRegion::CheckClosed(StepContext& ctx) {
  return ReadCloseResults(ctx, data_) ? GoTo<&TruncateRegion::CreateRegion>() : GoTo<&TruncateRegion::GiveUp>();
}

StepOutcome TruncateRegion::CreateRegion(StepContext& ctx) {
  RATCHET_STEP(MakeChildDirectories(ctx, data_));
  data_.set_built(0);  // no build made the region: it begins empty. From here on the commit may be in progress
  return GoTo<&TruncateRegion::UpdateMeta>();
}

StepOutcome TruncateRegion::UpdateMeta(StepContext& ctx) {
  auto outcome = CommitReshape(ctx, data_, [this](const std::vector<RegionNode>& parents) {
    return ReplaceParents(parents, ChildRows(data_).front());
  });
  RATCHET_STEP(outcome);
  ShowReplaced(EnvOf(ctx), data_, {});
  RATCHET_LOG(kInfo, "pid={} replaced region {} by the empty region {}", ctx.pid(), Old().encoded_name(),
              Fresh().encoded_name());
  data_.set_committed(true);
  return GoTo<&TruncateRegion::Remove>();
}

StepOutcome TruncateRegion::Remove(StepContext& ctx) {
  RATCHET_STEP(ArchiveRegions(ctx, Old().table, {Old().encoded_name()}));
  return GoTo<&TruncateRegion::MakeOnline>();
}

StepOutcome TruncateRegion::MakeOnline(StepContext& /*ctx*/) {
  data_.set_released(true);
  return SpawnThen<&TruncateRegion::PostOperation>(AssignChildren(data_));
}

StepOutcome TruncateRegion::PostOperation(StepContext& /*ctx*/) { return Done{}; }

StepOutcome TruncateRegion::GiveUp(StepContext& ctx) {
  RATCHET_LOG(kWarn, "pid={} rolls back the truncation of region {}: {}", ctx.pid(), Old().encoded_name(), data_.why());
  data_.set_released(true);
  return SpawnThen<&TruncateRegion::RemoveNew>(ReopenParents(EnvOf(ctx), data_, pid()));
}

StepOutcome TruncateRegion::RemoveNew(StepContext& ctx) {
  RATCHET_STEP(RemoveChildren(ctx, data_));
  return EndFailed{Error(
      Code::kAborted, fmt::format("the truncation of region {} was rolled back, and it is open again with its rows: {}",
                                  Old().encoded_name(), data_.why()))};
}

void TruncateRegion::OnRecovered(const procedure::EnvRef& env) {
  RestoreReshape(env.As<MasterEnv>(), data_, pid(), RegionState::kMergingNew);
}

}  // namespace ratchet::master
