// Services of a region about users: AuthenticationService of hbase:meta, and AccessControlService of clients before
// HBase 2.2. The master answers them, except for what a region server knows itself.
#include "regionserver/rpc/user_services.h"

#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/message_limits.h"
#include "common/model/proto/authentication.pb.h"
#include "common/model/proto/region_access.pb.h"
#include "common/rpc/exceptions.h"
#include "regionserver/rpc/data_service.h"
#include "regionserver/rpc/exec_reply.h"

namespace ratchet::regionserver {
namespace {

// HBase's names of the answers' types.
constexpr std::string_view kTokenResponse =
    "org.apache.hadoop.hbase.protobuf.generated.AuthenticationProtos$GetAuthenticationTokenResponse";
constexpr std::string_view kWhoAmIResponse =
    "org.apache.hadoop.hbase.protobuf.generated.AuthenticationProtos$WhoAmIResponse";

constexpr std::string_view kAccessProtos = "org.apache.hadoop.hbase.protobuf.generated.AccessControlProtos$";

// As HBase names them, and CERTIFICATE.
const char* MethodOf(rpc::Authentication authentication) {
  switch (authentication) {
    case rpc::Authentication::kCertificate: return "CERTIFICATE";
    case rpc::Authentication::kToken: return "TOKEN";
    case rpc::Authentication::kKerberos: return "KERBEROS";
    case rpc::Authentication::kMember:
    case rpc::Authentication::kSimple: break;
  }
  return "SIMPLE";
}

template <class Message>
Result<Message> Parse(const pb::CoprocessorServiceCall& call) {
  Message message;
  if (ParseMessage(call.request(), message).ok() && message.IsInitialized()) return message;
  return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                          fmt::format("the request of {} cannot be read", call.method_name()));
}

// The client of the region gets the answer of the master.
template <class Response>
std::function<void(Result<Response>)> PassBack(const pb::CoprocessorServiceRequest& request,
                                               const rpc::Responder<pb::CoprocessorServiceResponse>& responder) {
  return [responder, region = request.region(), method = request.call().method_name()](Result<Response> answer) {
    if (!answer.ok()) {
      responder.Fail(answer.error());
      return;
    }
    ReplyOfService(region, fmt::format("{}{}Response", kAccessProtos, method), answer->SerializeAsString(), responder);
  };
}

Error UnknownMethod(const pb::CoprocessorServiceCall& call, const Region& region) {
  return rpc::RemoteError(rpc::exception::kUnknownProtocol,
                          fmt::format("Unknown method {} called on service {} in region {}", call.method_name(),
                                      call.service_name(), region.info().name()));
}

rights::Actions ActionOf(int number) { return rights::Actions::FromBits(1U << static_cast<unsigned>(number)); }

// Each action alone: the user needs all of them.
template <class Numbers>
void AddDemands(const rights::Scope& scope, const Numbers& actions, rights::Demands& demands) {
  for (const int action : actions) demands.push_back(rights::Demand::Of(scope, ActionOf(action)));
}

// Returns the actions that CheckPermissions asks about, as demands on its caller.
Result<rights::Demands> DemandsOf(const pb::CheckPermissionsRequest& request, const TableName& here) {
  rights::Demands demands;
  for (const pb::Permission& each : request.permission()) {
    switch (each.type()) {
      case pb::Permission::Global:
        AddDemands(rights::Scope::Global(), each.global_permission().action(), demands);
        break;
      case pb::Permission::Namespace:
        AddDemands(rights::Scope::Namespace(each.namespace_permission().namespace_name()),
                   each.namespace_permission().action(), demands);
        break;
      case pb::Permission::Table: {
        const pb::TablePermission& in = each.table_permission();
        const auto table = FromProto(in.table_name());
        if (!table.ok() || *table != here)
          return rpc::RemoteError(exception::kCoprocessor,
                                  "This method can only execute at the table specified in TablePermission. " +
                                      fmt::format("Table of the region:{}", here.ToString()));
        rights::Scope scope = rights::Scope::Table(*table);
        if (!in.family().empty()) scope = rights::Scope::Family(*table, in.family());
        if (!in.family().empty() && in.has_qualifier())
          scope = rights::Scope::Column(*table, in.family(), in.qualifier());
        AddDemands(scope, in.action(), demands);
        break;
      }
    }
  }
  return demands;
}

}  // namespace

// S150 (only members act for others): the master judges the client of this call, and not this server.
Status DataCalls::ControlAccess(const Region& region, const pb::CoprocessorServiceRequest& request,
                                const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const {
  const pb::CoprocessorServiceCall& call = request.call();
  const std::string& method = call.method_name();
  const rpc::CallContext& client = responder.context();
  if (method == "CheckPermissions") {
    RATCHET_ASSIGN(const auto asked, Parse<pb::CheckPermissionsRequest>(call));
    RATCHET_ASSIGN(const rights::Demands demands, DemandsOf(asked, region.info().table));
    if (rights_.Judges(client)) RATCHET_TRY(parts_.judge->Check({client.user, client.member}, demands, method));
    ReplyOfService(request.region(), fmt::format("{}{}Response", kAccessProtos, method), {}, responder);
    return Ok();
  }
  if (parts_.master == nullptr) return UnknownMethod(call, region);
  if (region.info().table != rights::AclTableName())
    return rpc::RemoteError(exception::kCoprocessor, "This method can only execute at hbase:acl table.");
  if (method == "Grant") {
    RATCHET_ASSIGN(const auto asked, Parse<pb::GrantRequest>(call));
    parts_.master->Grant(client, asked, PassBack<pb::GrantResponse>(request, responder));
  } else if (method == "Revoke") {
    RATCHET_ASSIGN(const auto asked, Parse<pb::RevokeRequest>(call));
    parts_.master->Revoke(client, asked, PassBack<pb::RevokeResponse>(request, responder));
  } else if (method == "GetUserPermissions") {
    RATCHET_ASSIGN(const auto asked, Parse<pb::GetUserPermissionsRequest>(call));
    parts_.master->GetUserPermissions(client, asked, PassBack<pb::GetUserPermissionsResponse>(request, responder));
  } else if (method == "HasPermission") {
    RATCHET_ASSIGN(const auto asked, Parse<pb::HasPermissionRequest>(call));
    pb::HasUserPermissionsRequest one;
    one.set_user_name(asked.user_name());
    one.add_permission()->set_type(pb::Permission::Table);
    *one.mutable_permission(0)->mutable_table_permission() = asked.table_permission();
    const auto back = PassBack<pb::HasPermissionResponse>(request, responder);
    parts_.master->HasUserPermissions(client, one, [back](Result<pb::HasUserPermissionsResponse> answer) {
      if (!answer.ok()) return back(answer.error());
      pb::HasPermissionResponse response;
      response.set_has_permission(answer->has_user_permission_size() == 1 && answer->has_user_permission(0));
      back(std::move(response));
    });
  } else {
    return UnknownMethod(call, region);
  }
  return Ok();
}

Status DataCalls::Authenticate(const Region& region, const pb::CoprocessorServiceRequest& request,
                               const rpc::Responder<pb::CoprocessorServiceResponse>& responder) const {
  const std::string& method = request.call().method_name();
  const rpc::CallContext& call = responder.context();
  if (method == "WhoAmI") {
    pb::WhoAmIResponse who;
    who.set_username(call.user);
    who.set_auth_method(MethodOf(call.authentication));
    ReplyOfService(request.region(), kWhoAmIResponse, who.SerializeAsString(), responder);
    return Ok();
  }
  if (method != "GetAuthenticationToken" || !region.info().IsMeta() || parts_.master == nullptr)
    return UnknownMethod(request.call(), region);
  parts_.master->IssueToken(call,
                            [responder, region = request.region()](Result<ratchet::pb::IssueTokenResponse> issued) {
                              if (!issued.ok()) {
                                responder.Fail(issued.error());
                                return;
                              }
                              pb::GetAuthenticationTokenResponse response;
                              pb::Token& token = *response.mutable_token();
                              token.set_identifier(issued->identifier());
                              token.set_password(issued->password());
                              token.set_service(issued->service());
                              ReplyOfService(region, kTokenResponse, response.SerializeAsString(), responder);
                            });
  return Ok();
}

}  // namespace ratchet::regionserver
