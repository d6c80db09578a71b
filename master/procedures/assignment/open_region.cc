#include "master/procedures/assignment/open_region.h"

#include "common/base/mutant.h"
#include "master/cluster/table_directory.h"

namespace ratchet::master {

ProcedurePtr OpenRegion::Make(const pb::Region& region, const std::string& server, std::uint64_t transition,
                              const RegionPast& past, std::uint64_t schema_number) {
  pb::RegionOrderData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  data.set_transition(transition);
  data.set_opened_before(past.opened_before);
  if (past.build_number != 0) data.set_build_number(past.build_number);
  if (past.issued != 0) data.set_issued(past.issued);
  if (past.served != 0) data.set_served(past.served);
  if (past.flushed != 0) data.set_flushed(past.flushed);
  if (schema_number != 0) data.set_schema_number(schema_number);
  return std::make_unique<OpenRegion>(std::move(data));
}

// S48 (schema pinned in the order): each send carries the table's descriptor at the time of the order, not the current
// one.
Acted<Result<Order>> OpenRegion::MakeOrder(StepContext& ctx) const {
  const RegionInfo region = FromData(data_.region());
  const std::uint64_t pinned = RATCHET_MUTANT("master.unpinned_schema") ? 0 : data_.schema_number();
  auto read = ReadPinnedSchema(ctx, region.table, pinned);
  if (read.wait) return {std::move(read.wait), std::nullopt};
  if (!read.result->ok()) return {std::nullopt, read.result->error()};
  const TableNode& table = **read.result;
  OpenOrder order;
  order.id = {ctx.pid(), data_.attempt()};
  order.region = region;
  order.open_number = ctx.pid().value();
  order.table_directory = table.directory;
  order.schema = table.schema;
  order.transition = data_.transition();
  order.opened_before = data_.opened_before();
  order.build_number = data_.build_number();
  order.issued = data_.issued();
  order.served = data_.served();
  order.flushed = data_.flushed();
  // an order of an earlier version pins no descriptor
  order.schema_number = data_.has_schema_number() ? table.schema_number : 0;
  return {std::nullopt, Order(std::move(order))};
}

}  // namespace ratchet::master
