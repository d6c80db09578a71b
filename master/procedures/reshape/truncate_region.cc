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

procedure::Description TruncateRegion::Describe() const {
  procedure::Description about;
  about.Add("table", Old().table.ToString()).Add("region", Old().encoded_name());
  if (data_.children_size() == 1) about.Add("new", FromData(data_.children(0)).encoded_name());
  if (!data_.why().empty()) about.Section().Note("given up: " + PrintableText(data_.why()));
  return about;
}

StepOutcome TruncateRegion::Prepare(StepContext& ctx) {
  if (Old().IsMeta()) return Fail{CatalogStays("Can't truncate region in catalog tables")};
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  const TableName name = Old().table;
  const auto table = EnvOf(ctx).tables.Get(name);
  if (!table) return Fail{TableNotFound(name)};
  if (table->state != TableState::kEnabled) return Fail{TableNotEnabled(name)};
  if (Status free = NotHeld(EnvOf(ctx), name); !free.ok()) return Fail{free.error()};
  data_.clear_children();
  *data_.add_children() = ToData(Fresh());
  const Status owned = OwnRegions(EnvOf(ctx), data_, pid(), RegionState::kMerging, RegionState::kMergingNew);
  if (!owned.ok()) return Fail{owned.error()};
  return GoTo(State::kPreOperation);
}

// Flushes, so that the close is short.
StepOutcome TruncateRegion::PreOperation(StepContext& /*ctx*/) {
  return SpawnThen(State::kMakeOffline, FlushParents(data_));
}

Status TruncateRegion::GiveBack(StepContext& ctx) {
  data_.clear_children();
  *data_.add_children() = ToData(Fresh());
  GiveBackRegions(EnvOf(ctx), data_, pid());
  data_.set_begun(false);  // a restart from here on restores nothing
  return Ok();
}

StepOutcome TruncateRegion::MakeOffline(StepContext& /*ctx*/) {
  return SpawnThen(State::kCheckClosed, CloseParents(data_));
}

StepOutcome TruncateRegion::CheckClosed(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return GoTo(ReadCloseResults(ctx, data_) ? State::kCreateRegion : State::kGiveUp);
}

StepOutcome TruncateRegion::CreateRegion(StepContext& ctx) {
  if (auto outcome = MakeChildDirectories(ctx, data_)) return std::move(*outcome);
  data_.set_built(0);  // no build made the region: it begins empty. From here on the commit may be in progress
  return GoTo(State::kUpdateMeta);
}

StepOutcome TruncateRegion::UpdateMeta(StepContext& ctx) {
  auto outcome = CommitReshape(ctx, data_, [this](const std::vector<RegionNode>& parents) {
    return ReplaceParents(parents, ChildRows(data_).front());
  });
  if (outcome) return std::move(*outcome);
  ShowReplaced(EnvOf(ctx), data_, {});
  RATCHET_LOG(kInfo, "pid={} replaced region {} by the empty region {}", ctx.pid(), Old().encoded_name(),
              Fresh().encoded_name());
  data_.set_committed(true);
  return GoTo(State::kRemove);
}

StepOutcome TruncateRegion::Remove(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (auto outcome = ArchiveRegions(ctx, Old().table, {Old().encoded_name()})) return std::move(*outcome);
  return GoTo(State::kMakeOnline);
}

StepOutcome TruncateRegion::MakeOnline(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  data_.set_released(true);
  return SpawnThen(State::kPostOperation, AssignChildren(data_));
}

StepOutcome TruncateRegion::PostOperation(StepContext& /*ctx*/) { return Done{}; }

StepOutcome TruncateRegion::GiveUp(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  RATCHET_LOG(kWarn, "pid={} rolls back the truncation of region {}: {}", ctx.pid(), Old().encoded_name(), data_.why());
  data_.set_released(true);
  return SpawnThen(State::kRemoveNew, ReopenParents(EnvOf(ctx), data_, pid()));
}

StepOutcome TruncateRegion::RemoveNew(StepContext& ctx) {
  if (auto outcome = RemoveChildren(ctx, data_)) return std::move(*outcome);
  return EndFailed{Error(
      Code::kAborted, fmt::format("the truncation of region {} was rolled back, and it is open again with its rows: {}",
                                  Old().encoded_name(), data_.why()))};
}

void TruncateRegion::OnRecovered(const procedure::EnvRef& env) {
  RestoreReshape(env.As<MasterEnv>(), data_, pid(), RegionState::kMergingNew);
}

}  // namespace ratchet::master
