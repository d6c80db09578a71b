#include "master/procedures/assignment/region_orders.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"

namespace ratchet::master {

template <class P>
procedure::Description RegionOrder<P>::Describe() const {
  const RegionInfo region = Region();
  return procedure::Description()
      .Add("table", region.table.ToString())
      .Add("region", region.encoded_name())
      .Add("server", this->data_.server());
}

template <class P>
void RegionOrder<P>::Fill(pb::OrderResult& result) const {
  if (!this->data_.has_answer()) return;
  const pb::OrderAnswer& answer = this->data_.answer();
  result.set_open_sequence(answer.open_sequence());
  result.set_open_order(this->pid().value());
  // A server of an earlier version reports no descriptor; it opened with the one that every send of this order carried.
  const std::uint64_t descriptor = answer.has_schema_number() ? answer.schema_number() : this->data_.schema_number();
  if (descriptor != 0) result.set_schema_number(descriptor);
  if (answer.has_open_number()) result.set_open_number(answer.open_number());
  if (answer.has_flushed()) result.set_flushed(answer.flushed());
}

template <class P>
void RegionOrder<P>::Log(StepContext& ctx, std::string_view event) const {
  if (!LogEnabled(LogLevel::kInfo)) return;
  const auto node = EnvOf(ctx).regions.Get(Region().encoded_name());
  const pb::OrderAnswer& answer = this->data_.answer();
  const std::string report = this->data_.has_answer()
                                 ? fmt::format(" {} seqId={},", OutcomeText(answer.outcome()), answer.open_sequence())
                                 : "";
  RATCHET_LOG(kInfo, "{}{} pid={}, ppid={}, state=RUNNABLE:DISPATCH; {} {}; rit={}, location={}", event, report,
              ctx.pid(), ctx.parent(), P::kTypeName, Describe().text(), node ? RegionStateText(node->state) : "?",
              node && node->location ? node->location->ToString() : "null");
}

template class RegionOrder<OpenRegion>;
template class RegionOrder<CloseRegion>;

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

OpenOrder OrderToOpen(OrderId id, RegionInfo region, const TableNode& table, std::uint64_t transition,
                      const RegionPast& past) {
  OpenOrder order;
  order.id = id;
  order.region = std::move(region);
  order.open_number = id.pid.value();
  order.table_directory = table.directory;
  order.schema = table.schema;
  order.transition = transition;
  order.opened_before = past.opened_before;
  order.build_number = past.build_number;
  order.schema_number = table.schema_number;
  order.issued = past.issued;
  order.served = past.served;
  order.flushed = past.flushed;
  return order;
}

// S48 (schema pinned in the order): each send carries the table's descriptor at the time of the order, not the current
// one.
Acted<Result<OpenOrder>> OpenRegion::MakeOrder(StepContext& ctx) const {
  const RegionInfo region = Region();
  // S93 (transition without a row ends): the close order that the parent gives next settles the effect of an earlier
  // send.
  if (!HasTable(EnvOf(ctx), region)) return {Done{}, std::nullopt};
  const bool newest = !data_.has_schema_number() || RATCHET_MUTANT("master.unpinned_schema");
  auto read = ReadPinnedSchema(ctx, region.table, newest ? 0 : data_.schema_number());
  if (read.wait) return {std::move(read.wait), std::nullopt};
  if (!read.result->ok()) return {std::nullopt, read.result->error()};
  const RegionPast past{data_.opened_before(), data_.build_number(), data_.issued(), data_.served(), data_.flushed()};
  OpenOrder order = OrderToOpen({ctx.pid(), data_.attempt()}, region, **read.result, data_.transition(), past);
  if (!data_.has_schema_number()) order.schema_number = 0;  // an order of an earlier version pins no descriptor
  return Ready(std::move(order));
}

ProcedurePtr CloseRegion::Make(const pb::Region& region, const std::string& server, const std::string& destination) {
  pb::RegionOrderData data;
  *data.mutable_region() = region;
  data.set_server(server);
  data.set_attempt(1);
  if (!destination.empty()) data.set_destination(destination);
  return std::make_unique<CloseRegion>(std::move(data));
}

Acted<Result<CloseOrder>> CloseRegion::MakeOrder(StepContext& /*ctx*/) const {
  CloseOrder order;
  order.region = Region();
  order.destination = MaybeServerFromData(data_.destination());
  return Ready(std::move(order));
}

}  // namespace ratchet::master
