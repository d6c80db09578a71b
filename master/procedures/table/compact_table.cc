#include "master/procedures/table/compact_table.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/region_sweep.h"

namespace ratchet::master {

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
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(Table());
  if (!table) return Fail{TableNotFound(Table())};
  if (table->state != TableState::kEnabled) return Fail{TableNotEnabled(Table())};
  BeginSweep(env, Table(), data_);
  return GoTo<&CompactTable::CompactRegions>();
}

StepOutcome CompactTable::CompactRegions(StepContext& ctx) {
  RegionSweep sweep = AskOpenRegions(EnvOf(ctx), data_, [this](const RegionNode& node) {
    return CompactRegion::Make(ToData(node.info), node.location->ToString(), data_.major());
  });
  if (!sweep.orders.empty()) return SpawnThen<&CompactTable::ConfirmCompacted>(std::move(sweep.orders));
  return NothingAsked(ctx, sweep, data_);
}

StepOutcome CompactTable::ConfirmCompacted(StepContext& ctx) {
  RATCHET_STEP(ConfirmSweep(ctx, "is not compacted", data_));
  return GoTo<&CompactTable::CompactRegions>();
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

Acted<Result<CompactOrder>> CompactRegion::MakeOrder(StepContext& /*ctx*/) const {
  CompactOrder order;
  order.compacted = FromData(data_.region());
  order.major = data_.major();
  return Ready(std::move(order));
}

}  // namespace ratchet::master
