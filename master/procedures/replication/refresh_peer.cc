#include "master/procedures/replication/refresh_peer.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/peer_directory.h"

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

Acted<Result<RefreshPeersOrder>> RefreshPeer::MakeOrder(StepContext& ctx) const {
  RefreshPeersOrder order;
  order.list = EnvOf(ctx).peers.ListFor(ServerFromData(data_.server()), ctx.epoch()).SerializeAsString();
  return Ready(std::move(order));
}

// A server of an earlier version does not replicate, and does not know the order.
void RefreshPeer::Log(StepContext& ctx, std::string_view /*event*/) const {
  if (!data_.has_answer() || data_.answer().outcome() == pb::DONE) return;
  RATCHET_LOG(kWarn, "pid={} {} does not accept replication peers: {}", ctx.pid(), data_.server(),
              data_.answer().error_message());
}

}  // namespace ratchet::master
