// Decommissioned region servers: HBase's methods of MasterService, and RatchetService's Drain and Undrain.
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
namespace rpb = ::ratchet::pb;

Error Malformed(const Error& error) { return rpc::RemoteError(rpc::exception::kDoNotRetryIo, error.message()); }

// Returns the current server at each marked address, or the server that was marked.
Result<pb::ListDecommissionedRegionServersResponse> List(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                         const pb::ListDecommissionedRegionServersRequest& /*all*/) {
  const std::vector<ServerName> online = parts.logic->servers.Online();
  pb::ListDecommissionedRegionServersResponse response;
  for (const ServerName& marked : parts.logic->decommissions.Marked()) {
    ServerName shown = marked;
    for (const ServerName& server : online) {
      if (server.SameAddress(marked)) shown = server;
    }
    ToProto(shown, *response.add_server_name());
  }
  return response;
}

template <class Response>
std::function<void(Status)> AnswersDone(const ActiveParts& parts, const rpc::Responder<Response>& responder) {
  return [parts, responder](const Status& done) {
    if (!done.ok()) return FailChecked(parts, responder, done.error());
    ReplyChecked(parts, responder, Response());
  };
}

void Decommission(const ActiveParts& parts, const rpc::CallContext& call,
                  const pb::DecommissionRegionServersRequest& request,
                  const rpc::Responder<pb::DecommissionRegionServersResponse>& responder) {
  std::vector<ServerName> servers;
  for (const auto& each : request.server_name()) {
    auto server = FromProto(each);
    if (!server.ok()) return FailChecked(parts, responder, Malformed(server.error()));
    servers.push_back(*std::move(server));
  }
  parts.logic->server_admin.Decommission(servers, request.offload(), ContextOf(call), AnswersDone(parts, responder));
}

void Recommission(const ActiveParts& parts, const rpc::CallContext& call,
                  const pb::RecommissionRegionServerRequest& request,
                  const rpc::Responder<pb::RecommissionRegionServerResponse>& responder) {
  const auto server = FromProto(request.server_name());
  if (!server.ok()) return FailChecked(parts, responder, Malformed(server.error()));
  std::vector<std::string> regions;
  for (const auto& specifier : request.region()) {
    auto encoded = EncodedNameOf(specifier);
    if (!encoded.ok()) return FailChecked(parts, responder, Malformed(encoded.error()));
    regions.push_back(*std::move(encoded));
  }
  parts.logic->server_admin.Unmark(*server, std::move(regions), ContextOf(call), AnswersDone(parts, responder));
}

void Drain(const ActiveParts& parts, const rpc::CallContext& call, const rpb::DrainRequest& request,
           const rpc::Responder<rpb::DrainResponse>& responder) {
  const auto server = FromProto(request.server());
  if (!server.ok()) return FailChecked(parts, responder, Malformed(server.error()));
  parts.logic->server_admin.DrainServer({*server, true, request.and_stop()}, ContextOf(call, request),
                                        AnswersPid(parts, responder));
}

void Undrain(const ActiveParts& parts, const rpc::CallContext& call, const rpb::UndrainRequest& request,
             const rpc::Responder<rpb::DrainResponse>& responder) {
  const auto server = FromProto(request.server());
  if (!server.ok()) return FailChecked(parts, responder, Malformed(server.error()));
  parts.logic->server_admin.Recommission(*server, {request.encoded_name().begin(), request.encoded_name().end()},
                                         ContextOf(call, request), AnswersPid(parts, responder));
}

}  // namespace

void AddServerMethods(rpc::Service& service, ServiceEnv& env) {
  Answer(service, env.gate, Need::kReady, methods::kListDecommissionedRegionServers, List);
  AnswerLater(service, env.gate, Need::kReady, methods::kDecommissionRegionServers, Decommission);
  AnswerLater(service, env.gate, Need::kReady, methods::kRecommissionRegionServer, Recommission);
}

void AddDrainMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kDrain, Drain);
  AnswerLater(service, env.gate, Need::kReady, methods::kUndrain, Undrain);
}

}  // namespace ratchet::master
