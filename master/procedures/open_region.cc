#include "master/procedures/open_region.h"

#include "common/base/mutant.h"
#include "master/state/schema_reader.h"
#include "master/state/table_directory.h"

namespace ratchet::master {

ProcedurePtr OpenRegion::Make(const pb::Region& region, const std::string& server, std::uint64_t transition,
                              const RegionPast& past, std::uint64_t descriptor) {
  pb::RegionOrderData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  data.set_transition(transition);
  data.set_opened_before(past.opened_before);
  if (past.born != 0) data.set_born(past.born);
  if (descriptor != 0) data.set_schema_number(descriptor);
  return std::make_unique<OpenRegion>(std::move(data));
}

// S48: each sending carries the descriptor that was the table's when the order was made, whatever it is now.
Result<Order> OpenRegion::MakeOrder(StepContext& ctx) const {
  const RegionInfo region = FromData(data_.region());
  const std::uint64_t pinned = RATCHET_MUTANT("master.unpinned_schema") ? 0 : data_.schema_number();
  RATCHET_ASSIGN(const TableNode table, TableWithSchema(EnvOf(ctx), region.table, pinned));
  OpenOrder order;
  order.id = {ctx.pid(), data_.attempt()};
  order.region = region;
  order.open_seq = ctx.pid().value();
  order.table_directory = table.directory;
  order.schema = table.schema;
  order.transition = data_.transition();
  order.opened_before = data_.opened_before();
  order.born = data_.born();
  order.descriptor = data_.has_schema_number() ? table.descriptor : 0;  // an earlier version's order pins none
  return Order(std::move(order));
}

}  // namespace ratchet::master
