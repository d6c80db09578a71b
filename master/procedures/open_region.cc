#include "master/procedures/open_region.h"

#include "master/state/errors.h"
#include "master/state/schema_reader.h"
#include "master/state/table_directory.h"

namespace ratchet::master {

ProcedurePtr OpenRegion::Make(const pb::Region& region, const std::string& server, std::uint64_t transition,
                              bool opened_before) {
  pb::RegionOrderData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  data.set_transition(transition);
  data.set_opened_before(opened_before);
  return std::make_unique<OpenRegion>(std::move(data));
}

Result<Order> OpenRegion::MakeOrder(StepContext& ctx) const {
  const RegionInfo region = FromData(data_.region());
  auto table = EnvOf(ctx).tables.Get(region.table);
  if (!table) return TableNotFound(region.table);
  if (table->schema == nullptr) {  // it was readable when this order was made: another master may have sent it
    if (Status read = ReadSchemaAgain(EnvOf(ctx), region.table); !read.ok()) return read.error();
    table = EnvOf(ctx).tables.Get(region.table);
    if (!table || table->schema == nullptr) return TableNotFound(region.table);
  }
  OpenOrder order;
  order.id = {ctx.pid(), data_.attempt()};
  order.region = region;
  order.open_seq = ctx.pid().value();
  order.table_directory = table->directory;
  order.schema = table->schema;
  order.transition = data_.transition();
  order.opened_before = data_.opened_before();
  return Order(std::move(order));
}

}  // namespace ratchet::master
