#include "master/procedures/rights/refresh_rights.h"

#include "master/cluster/rights_book.h"

namespace ratchet::master {

ProcedurePtr RefreshRights::Make(const std::string& server) {
  pb::RefreshRightsData data;
  data.set_server(server);
  data.set_attempt(1);
  return std::make_unique<RefreshRights>(std::move(data));
}

procedure::Description RefreshRights::Describe() const {
  return procedure::Description().Add("server", data_.server());
}

Acted<Result<TakeRightsOrder>> RefreshRights::MakeOrder(StepContext& ctx) const {
  TakeRightsOrder order;
  order.image = EnvOf(ctx).rights.EncodedImage(ctx.epoch());
  return Ready(std::move(order));
}

// A crashed server is among them until it is fenced: its process may still answer clients.
std::vector<ProcedurePtr> TellRights(StepContext& ctx) {
  const Membership& servers = EnvOf(ctx).servers;
  std::vector<ProcedurePtr> orders;
  for (const ServerName& server : servers.Names()) {
    if (servers.SettlementOf(server, /*region=*/{}) == SettlementState::kSettled) continue;
    orders.push_back(RefreshRights::Make(server.ToString()));
  }
  return orders;
}

}  // namespace ratchet::master
