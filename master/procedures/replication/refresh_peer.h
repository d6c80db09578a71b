// RefreshPeer: sends the current list of replication peers to one region server. Ends when the server has answered or
// is no longer online. The list is built at each send, so that a resent order never carries an old list (the list's
// number decides, see PeerDirectory).
#pragma once

#include <string>
#include <string_view>

#include "master/procedures/core/remote_order.h"
#include "master/procedures/replication/peer_data.pb.h"

namespace ratchet::master {

class RefreshPeer final : public RemoteOrder<RefreshPeer, pb::RefreshPeerData> {
 public:
  static constexpr std::string_view kTypeName = "RefreshPeer";
  using RemoteOrder::RemoteOrder;
  static ProcedurePtr Make(const std::string& peer, const std::string& server);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] Acted<Result<RefreshPeersOrder>> MakeOrder(StepContext& ctx) const;
  void Log(StepContext& ctx, std::string_view event) const;
};

}  // namespace ratchet::master
