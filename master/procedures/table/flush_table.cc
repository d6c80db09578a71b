#include "master/procedures/table/flush_table.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "master/cluster/errors.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/region_sweep.h"

namespace ratchet::master {

// ---- FlushTable -----------------------------------------------------------------------------------------------------

ProcedurePtr FlushTable::Make(const TableName& table, const std::vector<std::string>& families) {
  pb::FlushTableData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  for (const std::string& family : families) data.add_families(family);
  return std::make_unique<FlushTable>(std::move(data));
}

std::optional<procedure::PartsLeft> FlushTable::Parts() const { return PartsOfSweep(data_); }

procedure::Description FlushTable::Describe() const {
  procedure::Description about;
  about.Add("table", Table().ToString());
  AddRegionsLeft(about, Parts());
  return about;
}

StepOutcome FlushTable::Prepare(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(Table());
  if (!table) return Fail{TableNotFound(Table())};
  if (table->state != TableState::kEnabled) return Fail{TableNotEnabled(Table())};
  for (const std::string& family : data_.families()) {
    if (table->schema != nullptr && table->schema->Family(family) == nullptr)
      return Fail{NoSuchFamily(Table(), family)};
  }
  BeginSweep(env, Table(), data_);
  return GoTo<&FlushTable::FlushRegions>();
}

// A region that is not open and not in transition has no acknowledged writes in memory.
StepOutcome FlushTable::FlushRegions(StepContext& ctx) {
  RegionSweep sweep = AskOpenRegions(EnvOf(ctx), data_, [this](const RegionNode& node) {
    return FlushRegion::Make(ToData(node.info), node.location->ToString(), data_);
  });
  if (!sweep.orders.empty()) return SpawnThen<&FlushTable::ConfirmFlushed>(std::move(sweep.orders));
  return NothingAsked(ctx, sweep, data_);
}

StepOutcome FlushTable::ConfirmFlushed(StepContext& ctx) {
  RATCHET_STEP(ConfirmSweep(ctx, "is not flushed", data_));
  return GoTo<&FlushTable::FlushRegions>();
}

// ---- FlushRegion ----------------------------------------------------------------------------------------------------

ProcedurePtr FlushRegion::Make(const pb::Region& region, const std::string& server, const pb::FlushTableData& table) {
  pb::FlushRegionData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  *data.mutable_families() = table.families();
  return std::make_unique<FlushRegion>(std::move(data));
}

ProcedurePtr FlushRegion::MakeOptional(const pb::Region& region, const std::string& server, Millis patience) {
  pb::FlushRegionData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  data.set_patience_ms(static_cast<std::uint32_t>(patience.count()));
  return std::make_unique<FlushRegion>(std::move(data));
}

procedure::Description FlushRegion::Describe() const {
  const RegionInfo region = FromData(data_.region());
  return procedure::Description()
      .Add("table", region.table.ToString())
      .Add("region", region.encoded_name())
      .Add("server", data_.server());
}

Acted<Result<FlushOrder>> FlushRegion::MakeOrder(StepContext& /*ctx*/) const {
  FlushOrder order;
  order.flushed = FromData(data_.region());
  order.families.assign(data_.families().begin(), data_.families().end());
  return Ready(std::move(order));
}

}  // namespace ratchet::master
