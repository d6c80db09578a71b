#include "common/rpc/connection_methods.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/printable.h"
#include "common/model/proto/connections.pb.h"
#include "common/rights/need.h"
#include "common/rpc/connections.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/server.h"

namespace ratchet::rpc {
namespace {

template <class Request>
Result<ConnectionFilter> FilterOf(const Request& request) {
  ConnectionFilter filter;
  if (request.has_user_name()) {
    if (request.user_name().size() >= kMostShownBytes)
      return RemoteError(exception::kDoNotRetryIo, "the name of the user is too long");
    filter.user = request.user_name();
  }
  filter.address = request.address();
  return filter;
}

// A user may look at, and close, its own connections. Those of others need ADMIN everywhere.
template <class Request>
Result<rights::Demands> DemandsOf(const CallContext& call, const Request& request) {
  if (!call.user.empty() && request.has_user_name() && request.user_name() == call.user) return rights::Demands();
  return rights::Demands{rights::Demand::Of(rights::Scope::Global(), rights::Action::kAdmin)};
}

void Fill(const ShownConnection& facts, pb::ConnectionInfo& out) {
  out.set_id(facts.id);
  out.set_peer(facts.peer);
  const auto set = [](const std::string& text, auto put) {
    if (!text.empty()) put(PrintableText(text));
  };
  set(facts.user, [&](std::string text) { out.set_user(std::move(text)); });
  set(facts.real_user, [&](std::string text) { out.set_real_user(std::move(text)); });
  set(facts.claimed_user, [&](std::string text) { out.set_claimed(std::move(text)); });
  set(facts.member, [&](std::string text) { out.set_member(std::move(text)); });
  set(facts.tls, [&](std::string text) { out.set_tls(std::move(text)); });
  set(facts.serial, [&](std::string text) { out.set_serial(std::move(text)); });
  set(facts.service, [&](std::string text) { out.set_service(std::move(text)); });
  out.set_by(std::string(AuthenticationName(facts.authentication)));
  out.set_since_ms(facts.since_ms);
  out.set_calls(static_cast<std::uint32_t>(facts.calls));
}

Result<pb::ListConnectionsResponse> List(const RpcServer* server, const pb::ListConnectionsRequest& request) {
  RATCHET_ASSIGN(ConnectionFilter filter, FilterOf(request));
  filter.plain_text = request.plain_text();
  pb::ListConnectionsResponse response;
  if (server == nullptr) return response;
  const std::vector<ShownConnection> all = server->Connections(filter);
  const std::size_t most = std::min<std::size_t>(request.most(), kMostListedConnections);
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) Fill(all[i], *response.add_connection());
  response.set_left_out(all.size() - static_cast<std::size_t>(response.connection_size()));
  return response;
}

Result<pb::CloseConnectionsResponse> Close(RpcServer* server, const CallContext& call,
                                           const pb::CloseConnectionsRequest& request) {
  RATCHET_ASSIGN(const ConnectionFilter filter, FilterOf(request));
  if (!filter.user.has_value() && filter.address.empty())
    return RemoteError(exception::kDoNotRetryIo, "the request names neither a user nor an address");
  pb::CloseConnectionsResponse response;
  if (server == nullptr) return response;
  response.set_closed(server->CloseConnections(filter, call.connection));
  RATCHET_LOG(kInfo, "connections closed for {} from {}: {}, {}: {}",
              PrintableText(call.user.substr(0, kMostShownBytes)), call.peer,
              filter.user.has_value() ? "user '" + PrintableText(*filter.user) + "'" : "every user",
              filter.address.empty() ? "every address" : PrintableText(filter.address.substr(0, kMostShownBytes)),
              response.closed());
  return response;
}

}  // namespace

void AddConnectionMethods(Service& service, std::function<RpcServer*()> server) {
  service.On(methods::kListConnections,
             [server](const CallContext&, const pb::ListConnectionsRequest& request, std::string_view,
                      const Responder<pb::ListConnectionsResponse>& responder) {
               responder.ReplyOrFail(List(server(), request));
             },
             {QueueClass::kAdmin});
  service.On(methods::kCloseConnections,
             [server](const CallContext& call, const pb::CloseConnectionsRequest& request, std::string_view,
                      const Responder<pb::CloseConnectionsResponse>& responder) {
               responder.ReplyOrFail(Close(server(), call, request));
             },
             {QueueClass::kAdmin});
  service.DemandsOf(methods::kListConnections, [](const CallContext& call, const pb::ListConnectionsRequest& request) {
    return DemandsOf(call, request);
  });
  service.DemandsOf(
      methods::kCloseConnections,
      [](const CallContext& call, const pb::CloseConnectionsRequest& request) { return DemandsOf(call, request); });
}

}  // namespace ratchet::rpc
