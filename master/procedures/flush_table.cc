#include "master/procedures/flush_table.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "master/env/region_servers.h"
#include "master/procedures/server_order.h"
#include "master/state/errors.h"
#include "master/state/master_options.h"
#include "master/state/region_directory.h"
#include "master/state/server_directory.h"
#include "master/state/table_directory.h"

namespace ratchet::master {

using procedure::Absorbed;

// ---- FlushTable -----------------------------------------------------------------------------------------------------

ProcedurePtr FlushTable::Make(const TableName& table, const std::vector<std::string>& families) {
  pb::FlushTableData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  for (const std::string& family : families) data.add_families(family);
  return std::make_unique<FlushTable>(std::move(data));
}

std::optional<procedure::PartsLeft> FlushTable::Parts() const {
  if (!data_.begun()) return std::nullopt;
  return procedure::PartsLeft{static_cast<std::uint64_t>(data_.left_size()), data_.total()};
}

std::string FlushTable::Describe() const { return "table=" + Table().ToString() + RegionsLeftText(Parts()); }

StepOutcome FlushTable::Prepare(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(Table());
  if (!table) return Fail{TableNotFound(Table())};
  if (table->state != TableState::kEnabled) return Fail{TableNotEnabled(Table())};
  for (const std::string& family : data_.families()) {
    if (table->schema != nullptr && table->schema->Family(family) == nullptr)
      return Fail{NoSuchFamily(Table(), family)};
  }
  for (const RegionNode& node : env.regions.OfTable(Table())) data_.add_left(node.encoded);
  data_.set_total(static_cast<std::uint32_t>(data_.left_size()));
  data_.set_begun(true);
  return GoTo(State::kFlushRegions);
}

// A region that is at rest and not open has nothing in memory that was acknowledged.
StepOutcome FlushTable::FlushRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  std::vector<std::string> left(data_.left().begin(), data_.left().end());
  data_.clear_left();
  data_.clear_asked();
  std::vector<ProcedurePtr> orders;
  std::string waits_for;
  for (std::string& region : left) {
    const auto node = env.regions.Get(region);
    if (!node) continue;  // gone
    const bool open = node->state == RegionState::kOpen && node->location && env.servers.IsOnline(*node->location);
    if (!node->owner.valid() && open) {
      orders.push_back(FlushRegion::Make(ToData(node->info), node->location->ToString(), data_));
      data_.add_asked(std::move(region));
    } else if (node->owner.valid() || node->state == RegionState::kOpen || !IsAtRest(node->state)) {
      waits_for = fmt::format("region {} is {}", node->encoded, RegionStateText(node->state));
      data_.add_left(std::move(region));
    }
  }
  if (!orders.empty()) return SpawnThen(State::kConfirmFlushed, std::move(orders));
  if (data_.left_size() == 0) return Done{};
  return Retry{Error(Code::kUnavailable, fmt::format("{} regions left; {}", data_.left_size(), waits_for)),
               BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
}

StepOutcome FlushTable::ConfirmFlushed(StepContext& ctx) {
  std::string refused;
  for (int i = 0; i < data_.asked_size(); ++i) {
    pb::OrderResult result;  // without an outcome when an operator ended the child
    if (static_cast<std::size_t>(i) < ctx.children().size())
      (void)result.ParseFromString(ctx.children()[static_cast<std::size_t>(i)].result);
    if (result.outcome() == pb::DONE) continue;
    data_.add_left(data_.asked(i));
    refused = fmt::format("region {} is not flushed: {}", data_.asked(i), result.error_message());
  }
  const bool all = data_.left_size() == 0;
  // Asked again after a pause, on the server that has the region by then.
  if (!refused.empty() && ctx.attempt() == 1)
    return Retry{Error(Code::kUnavailable, refused), BackoffDelay(EnvOf(ctx).options.retry, 2, ctx.prng())};
  data_.clear_asked();
  if (all) return Done{};
  return GoTo(State::kFlushRegions);
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

std::string FlushRegion::Describe() const {
  const RegionInfo region = FromData(data_.region());
  return fmt::format("table={}, region={}, server={}", region.table.ToString(), region.encoded_name(), data_.server());
}

Absorbed FlushRegion::Absorb(std::string_view message) { return AbsorbInto(data_, message, data_.server()); }

StepOutcome FlushRegion::Dispatch(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data_.server());
  auto ticket = ctx.TakeTicket(ServerDirectory::StandingEvent(server));
  if (data_.has_answer()) return Done{ServerOrderResult(data_.answer())};
  if (!env.servers.IsOnline(server)) return Done{ServerGoneResult(data_.server())};
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  FlushOrder order;
  order.id = {ctx.pid(), data_.attempt()};
  order.flushed = FromData(data_.region());
  order.families.assign(data_.families().begin(), data_.families().end());
  env.region_servers.Dispatch(server, std::move(order));
  return Await{std::move(ticket), env.options.order_resend};
}

}  // namespace ratchet::master
