// MasterService: replication peers, with HBase's messages.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/peer_secrets.h"
#include "common/model/replication_peer.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/errors.h"
#include "master/procedures/claims_of.h"
#include "master/rpc/master_services.h"
#include "master/rpc/pattern.h"
#include "master/rpc/procedure_view.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

void AddPeerIt(const ActiveParts& parts, const rpc::CallContext& call, const pb::AddReplicationPeerRequest& request,
               const rpc::Responder<pb::AddReplicationPeerResponse>& responder) {
  parts.logic->peer_admin.Add(request.peer_id(), request.peer_config(), IsEnabled(request.peer_state()),
                              ContextOf(call, request), AnswerPid(parts, responder));
}

void UpdatePeerIt(const ActiveParts& parts, const rpc::CallContext& call,
                  const pb::UpdateReplicationPeerConfigRequest& request,
                  const rpc::Responder<pb::UpdateReplicationPeerConfigResponse>& responder) {
  parts.logic->peer_admin.Update(request.peer_id(), request.peer_config(), ContextOf(call, request),
                                 AnswerPid(parts, responder));
}

template <class Request, class Response>
void AddPeerChange(rpc::Service& service, ServiceEnv& env, const rpc::Method<Request, Response>& method,
                   PeerChange change) {
  AnswerLater(service, env.gate, Need::kReady, method,
              [change](const ActiveParts& parts, const rpc::CallContext& call, const Request& request,
                       const rpc::Responder<Response>& responder) {
                parts.logic->peer_admin.Change(change, request.peer_id(), ContextOf(call, request),
                                               AnswerPid(parts, responder));
              });
}

Result<PeerDirectory::Peer> FindPeer(const ActiveParts& parts, const std::string& id) {
  auto peer = parts.logic->peers.Get(id);
  if (!peer) return PeerNotFound(id);
  return *std::move(peer);
}

Result<pb::GetReplicationPeerConfigResponse> PeerConfigOf(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                          const pb::GetReplicationPeerConfigRequest& request) {
  RATCHET_ASSIGN(const auto peer, FindPeer(parts, request.peer_id()));
  pb::GetReplicationPeerConfigResponse response;
  response.set_peer_id(peer.id());
  *response.mutable_peer_config() = peer.config();
  HideSecrets(*response.mutable_peer_config());
  return response;
}

Result<pb::GetReplicationPeerStateResponse> PeerStateOf(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                        const pb::GetReplicationPeerStateRequest& request) {
  RATCHET_ASSIGN(const auto peer, FindPeer(parts, request.peer_id()));
  pb::GetReplicationPeerStateResponse response;
  response.set_is_enabled(IsEnabled(peer.state()));
  return response;
}

Result<pb::ListReplicationPeersResponse> ListPeers(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                   const pb::ListReplicationPeersRequest& request) {
  std::optional<Pattern> pattern;
  if (request.has_regex()) {
    RATCHET_ASSIGN(pattern, Pattern::Compile(request.regex()));
  }
  pb::ListReplicationPeersResponse response;
  for (const auto& peer : parts.logic->peers.List()) {
    if (pattern && !pattern->Matches(peer.id())) continue;
    auto& shown = *response.add_peer_desc();
    shown = peer;
    HideSecrets(*shown.mutable_config());
  }
  return response;
}

// Lists unfinished changes: a client that has switched changes off waits until the list is empty.
Result<pb::GetReplicationPeerModificationProceduresResponse> UnfinishedChanges(
    const ActiveParts& parts, const rpc::CallContext& /*call*/,
    const pb::GetReplicationPeerModificationProceduresRequest& /*request*/) {
  pb::GetReplicationPeerModificationProceduresResponse response;
  for (const std::string_view type : TypesThatClaim(kClaimsPeers)) {
    for (const ProcId pid : parts.executor->FindUnfinished(type)) {
      const auto info = parts.executor->Get(pid);
      if (!info) continue;
      FillHbaseProcedure(*info, *response.add_procedure());
    }
  }
  return response;
}

Result<pb::GetReplicationProgressResponse> ProgressOf(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                      const pb::GetReplicationProgressRequest& request) {
  pb::GetReplicationProgressResponse response;
  for (const auto& [teller, progress] : parts.logic->peers.Progress()) {
    if (request.has_peer() && progress.peer() != request.peer()) continue;
    auto& source = *response.add_source();
    ToProto(teller, *source.mutable_teller());
    *source.mutable_progress() = progress;
  }
  for (const auto& queue : parts.logic->peers.Queues()) *response.add_queue() = queue;
  return response;
}

}  // namespace

void AddPeerMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kAddReplicationPeer, AddPeerIt);
  AnswerLater(service, env.gate, Need::kReady, methods::kUpdateReplicationPeerConfig, UpdatePeerIt);
  AddPeerChange(service, env, methods::kRemoveReplicationPeer, PeerChange::kRemove);
  AddPeerChange(service, env, methods::kEnableReplicationPeer, PeerChange::kEnable);
  AddPeerChange(service, env, methods::kDisableReplicationPeer, PeerChange::kDisable);
  Answer(service, env.gate, Need::kReady, methods::kGetReplicationPeerConfig, PeerConfigOf);
  Answer(service, env.gate, Need::kReady, methods::kIsReplicationPeerEnabled, PeerStateOf);
  Answer(service, env.gate, Need::kReady, methods::kListReplicationPeers, ListPeers);
  Answer(service, env.gate, Need::kReady, methods::kGetReplicationPeerModificationProcedures, UnfinishedChanges);
  Answer(service, env.gate, Need::kReady, methods::kGetReplicationProgress, ProgressOf);
}

}  // namespace ratchet::master
