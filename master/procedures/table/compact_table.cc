#include "master/procedures/table/compact_table.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/region_sweep.h"
#include "master/procedures/core/server_order.h"

namespace ratchet::master {

using procedure::Absorbed;

// ---- CompactTable ---------------------------------------------------------------------------------------------------

ProcedurePtr CompactTable::Make(const TableName& table, bool major) {
  pb::CompactTableData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  data.set_major(major);
  return std::make_unique<CompactTable>(std::move(data));
}

std::optional<procedure::PartsLeft> CompactTable::Parts() const { return PartsOfSweep(data_); }

procedure::Description CompactTable::Describe() const {
  procedure::Description about;
  about.Add("table", Table().ToString());
  if (data_.major()) about.Note("major");
  AddRegionsLeft(about, Parts());
  return about;
}

StepOutcome CompactTable::Prepare(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(Table());
  if (!table) return Fail{TableNotFound(Table())};
  if (table->state != TableState::kEnabled) return Fail{TableNotEnabled(Table())};
  BeginSweep(env, Table(), data_);
  return GoTo(State::kCompactRegions);
}

StepOutcome CompactTable::CompactRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  RegionSweep sweep = AskOpenRegions(EnvOf(ctx), data_, [this](const RegionNode& node) {
    return CompactRegion::Make(ToData(node.info), node.location->ToString(), data_.major());
  });
  if (!sweep.orders.empty()) return SpawnThen(State::kConfirmCompacted, std::move(sweep.orders));
  return NothingAsked(ctx, sweep, data_);
}

StepOutcome CompactTable::ConfirmCompacted(StepContext& ctx) {
  if (auto outcome = ConfirmSweep(ctx, "is not compacted", data_)) return std::move(*outcome);
  return GoTo(State::kCompactRegions);
}

// ---- CompactRegion --------------------------------------------------------------------------------------------------

ProcedurePtr CompactRegion::Make(const pb::Region& region, const std::string& server, bool major) {
  pb::CompactRegionData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  data.set_major(major);
  return std::make_unique<CompactRegion>(std::move(data));
}

procedure::Description CompactRegion::Describe() const {
  const RegionInfo region = FromData(data_.region());
  procedure::Description about;
  about.Add("table", region.table.ToString()).Add("region", region.encoded_name()).Add("server", data_.server());
  if (data_.major()) about.Note("major");
  return about;
}

Absorbed CompactRegion::Absorb(std::string_view message) { return AbsorbInto(data_, message, data_.server()); }

StepOutcome CompactRegion::Dispatch(StepContext& ctx) {
  CompactOrder order;
  order.compacted = FromData(data_.region());
  order.major = data_.major();
  return DispatchToServer(ctx, data_, std::move(order));
}

}  // namespace ratchet::master
