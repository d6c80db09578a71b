#include "common/client/peers.h"

#include "common/model/replication_peer.h"
#include "common/rpc/methods/peers.h"

namespace ratchet::client {
namespace {

template <class Request, class Response>
Result<std::uint64_t> SubmitOnPeer(Connection& connection, Admin& admin, const rpc::Method<Request, Response>& method,
                                   const std::string& id, Request& request) {
  request.set_peer_id(id);
  request.set_nonce_group(connection.nonce_group());
  request.set_nonce(connection.NewNonce());
  RATCHET_ASSIGN(const auto response, (admin.Call(method, request)));
  return response.proc_id();
}

}  // namespace

Result<std::uint64_t> AddPeer(Connection& connection, Admin& admin, const std::string& id,
                              const hbase::pb::ReplicationPeer& config, bool enabled) {
  hbase::pb::AddReplicationPeerRequest request;
  *request.mutable_peer_config() = config;
  *request.mutable_peer_state() = PeerState(enabled);
  return SubmitOnPeer(connection, admin, methods::kAddReplicationPeer, id, request);
}

Result<std::uint64_t> UpdatePeer(Connection& connection, Admin& admin, const std::string& id,
                                 const hbase::pb::ReplicationPeer& config) {
  hbase::pb::UpdateReplicationPeerConfigRequest request;
  *request.mutable_peer_config() = config;
  return SubmitOnPeer(connection, admin, methods::kUpdateReplicationPeerConfig, id, request);
}

Result<std::uint64_t> RemovePeer(Connection& connection, Admin& admin, const std::string& id) {
  hbase::pb::RemoveReplicationPeerRequest request;
  return SubmitOnPeer(connection, admin, methods::kRemoveReplicationPeer, id, request);
}

Result<std::uint64_t> EnablePeer(Connection& connection, Admin& admin, const std::string& id) {
  hbase::pb::EnableReplicationPeerRequest request;
  return SubmitOnPeer(connection, admin, methods::kEnableReplicationPeer, id, request);
}

Result<std::uint64_t> DisablePeer(Connection& connection, Admin& admin, const std::string& id) {
  hbase::pb::DisableReplicationPeerRequest request;
  return SubmitOnPeer(connection, admin, methods::kDisableReplicationPeer, id, request);
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
