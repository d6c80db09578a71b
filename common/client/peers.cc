#include "common/client/peers.h"

#include "common/model/replication_peer.h"
#include "common/rpc/methods/master_service.h"

namespace ratchet::client {
namespace {

template <class Request, class Response>
Result<std::uint64_t> SubmitOnPeer(Admin& admin, const rpc::Method<Request, Response>& method, const std::string& id,
                                   Request& request) {
  request.set_peer_id(id);
  return admin.Submit(method, request);
}

}  // namespace

Result<std::uint64_t> AddPeer(Admin& admin, const std::string& id, const hbase::pb::ReplicationPeer& config,
                              bool enabled) {
  hbase::pb::AddReplicationPeerRequest request;
  *request.mutable_peer_config() = config;
  *request.mutable_peer_state() = PeerState(enabled);
  return SubmitOnPeer(admin, methods::kAddReplicationPeer, id, request);
}

Result<std::uint64_t> UpdatePeer(Admin& admin, const std::string& id, const hbase::pb::ReplicationPeer& config) {
  hbase::pb::UpdateReplicationPeerConfigRequest request;
  *request.mutable_peer_config() = config;
  return SubmitOnPeer(admin, methods::kUpdateReplicationPeerConfig, id, request);
}

Result<std::uint64_t> RemovePeer(Admin& admin, const std::string& id) {
  hbase::pb::RemoveReplicationPeerRequest request;
  return SubmitOnPeer(admin, methods::kRemoveReplicationPeer, id, request);
}

Result<std::uint64_t> EnablePeer(Admin& admin, const std::string& id) {
  hbase::pb::EnableReplicationPeerRequest request;
  return SubmitOnPeer(admin, methods::kEnableReplicationPeer, id, request);
}

Result<std::uint64_t> DisablePeer(Admin& admin, const std::string& id) {
  hbase::pb::DisableReplicationPeerRequest request;
  return SubmitOnPeer(admin, methods::kDisableReplicationPeer, id, request);
}

Result<std::vector<hbase::pb::ReplicationPeerDescription>> ListPeers(Admin& admin) {
  RATCHET_ASSIGN(const auto response, (admin.Call(methods::kListReplicationPeers, {})));
  return std::vector<hbase::pb::ReplicationPeerDescription>(response.peer_desc().begin(), response.peer_desc().end());
}

Result<hbase::pb::ReplicationPeerDescription> DescribePeer(Admin& admin, const std::string& id) {
  hbase::pb::GetReplicationPeerConfigRequest request;
  request.set_peer_id(id);
  RATCHET_ASSIGN(const auto config, (admin.Call(methods::kGetReplicationPeerConfig, request)));
  hbase::pb::GetReplicationPeerStateRequest state_request;
  state_request.set_peer_id(id);
  RATCHET_ASSIGN(const auto state, (admin.Call(methods::kIsReplicationPeerEnabled, state_request)));
  hbase::pb::ReplicationPeerDescription peer;
  peer.set_id(id);
  *peer.mutable_config() = config.peer_config();
  *peer.mutable_state() = PeerState(state.is_enabled());
  return peer;
}

Result<hbase::pb::GetReplicationProgressResponse> ReplicationProgress(Admin& admin, const std::string& peer) {
  hbase::pb::GetReplicationProgressRequest request;
  if (!peer.empty()) request.set_peer(peer);
  return admin.Call(methods::kGetReplicationProgress, request);
}

}  // namespace ratchet::client
