#include "master/procedures/replication/refresh_peer.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/membership.h"
#include "master/cluster/peer_directory.h"
#include "master/env/region_servers.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/server_order.h"

namespace ratchet::master {

ProcedurePtr RefreshPeer::Make(const std::string& peer, const std::string& server) {
  pb::RefreshPeerData data;
  data.set_peer(peer);
  data.set_server(server);
  data.set_attempt(1);
  return std::make_unique<RefreshPeer>(std::move(data));
}

procedure::Description RefreshPeer::Describe() const {
  return procedure::Description().Add("peer", data_.peer()).Add("server", data_.server());
}

procedure::Absorbed RefreshPeer::Absorb(std::string_view message) { return AbsorbInto(data_, message, data_.server()); }

StepOutcome RefreshPeer::Dispatch(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const ServerName server = ServerFromData(data_.server());
  auto ticket = ctx.TakeTicket(Membership::SettlementEvent(server));
  if (data_.has_answer()) {
    // A server of an earlier version does not replicate, and does not know the order.
    if (data_.answer().outcome() != pb::DONE) {
      RATCHET_LOG(kWarn, "pid={} {} does not accept replication peers: {}", ctx.pid(), data_.server(),
                  data_.answer().error_message());
    }
    return Done{ServerOrderResult(data_.answer())};
  }
  if (!env.servers.IsOnline(server)) return Done{ServerGoneResult(data_.server())};
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  RefreshPeersOrder order;
  order.id = {ctx.pid(), data_.attempt()};
  order.list = env.peers.ListFor(server, ctx.epoch()).SerializeAsString();
  env.region_servers.Dispatch(server, std::move(order));
  return Await{std::move(ticket), env.options.order_resend};
}

}  // namespace ratchet::master
