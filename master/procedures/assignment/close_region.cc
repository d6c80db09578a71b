#include "master/procedures/assignment/close_region.h"

namespace ratchet::master {

ProcedurePtr CloseRegion::Make(const pb::Region& region, const std::string& server, const std::string& destination) {
  pb::RegionOrderData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  if (!destination.empty()) data.set_destination(destination);
  return std::make_unique<CloseRegion>(std::move(data));
}

Acted<Result<Order>> CloseRegion::MakeOrder(StepContext& ctx) const {
  CloseOrder order;
  order.id = {ctx.pid(), data_.attempt()};
  order.region = FromData(data_.region());
  order.destination = MaybeServerFromData(data_.destination());
  return {std::nullopt, Order(std::move(order))};
}

}  // namespace ratchet::master
