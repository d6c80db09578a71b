// MasterService and RatchetService: the rights of users. HBase's messages are in access_control.proto.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/namespace_descriptor.h"
#include "common/model/proto/access_control.pb.h"
#include "common/rights/judge.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/cluster/errors.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace hpb = ::hbase::pb;
using ::ratchet::rights::Action;
using ::ratchet::rights::Actions;
using ::ratchet::rights::Demand;
using ::ratchet::rights::Demands;
using ::ratchet::rights::RightsEntry;
using ::ratchet::rights::Scope;

// HBase's clients end their permission with Permission.Action numbers; all numbers of the message are known.
template <class Numbers>
Actions ActionsOf(const Numbers& numbers) {
  Actions actions;
  for (const int number : numbers) actions |= Actions::FromBits(1U << static_cast<unsigned>(number));
  return actions;
}

template <class Message>
void AddActions(Actions actions, Message& to) {
  for (unsigned number = 0; number < ::ratchet::rights::kActionLetters.size(); ++number) {
    if (actions.HasAny(Actions::FromBits(1U << number))) to.add_action(static_cast<hpb::Permission::Action>(number));
  }
}

Result<Scope> ScopeOf(const hpb::TablePermission& permission) {
  if (!permission.has_table_name()) return IllegalRequest("a permission for a table names no table");
  auto table = FromProto(permission.table_name());
  if (!table.ok()) return IllegalRequest(table.error().message());
  const bool has_family = permission.has_family() && !permission.family().empty();
  if (!has_family && permission.has_qualifier() && !permission.qualifier().empty())
    return IllegalRequest("a permission names a column without a family");
  if (!has_family) return Scope::Table(*std::move(table));
  if (!permission.has_qualifier()) return Scope::Family(*std::move(table), permission.family());
  return Scope::Column(*std::move(table), permission.family(), permission.qualifier());
}

struct Permitted {
  Scope scope;
  Actions actions;
};

Result<Permitted> FromPermission(const hpb::Permission& permission) {
  switch (permission.type()) {
    case hpb::Permission::Global: return Permitted{Scope::Global(), ActionsOf(permission.global_permission().action())};
    case hpb::Permission::Namespace: {
      const hpb::NamespacePermission& in = permission.namespace_permission();
      if (const Status legal = CheckNamespaceName(in.namespace_name()); !legal.ok())
        return IllegalRequest(legal.error().message());
      return Permitted{Scope::Namespace(in.namespace_name()), ActionsOf(in.action())};
    }
    case hpb::Permission::Table: {
      RATCHET_ASSIGN(Scope scope, ScopeOf(permission.table_permission()));
      return Permitted{std::move(scope), ActionsOf(permission.table_permission().action())};
    }
  }
  return IllegalRequest("a permission of an unknown type");
}

void FillPermission(const RightsEntry& entry, hpb::UserPermission& to) {
  to.set_user(entry.user);
  hpb::Permission& permission = *to.mutable_permission();
  const Scope& scope = entry.scope;
  if (scope.level == Scope::Level::kGlobal) {
    permission.set_type(hpb::Permission::Global);
    AddActions(entry.actions, *permission.mutable_global_permission());
    return;
  }
  if (scope.level == Scope::Level::kNamespace) {
    permission.set_type(hpb::Permission::Namespace);
    permission.mutable_namespace_permission()->set_namespace_name(scope.table.ns);
    AddActions(entry.actions, *permission.mutable_namespace_permission());
    return;
  }
  permission.set_type(hpb::Permission::Table);
  hpb::TablePermission& in = *permission.mutable_table_permission();
  ToProto(scope.table, *in.mutable_table_name());
  if (scope.level >= Scope::Level::kFamily) in.set_family(scope.family);
  if (scope.level >= Scope::Level::kColumn) in.set_qualifier(scope.qualifier);
  AddActions(entry.actions, in);
}

template <class Response>
RightsAdmin::Done AnswerDone(const ActiveParts& parts, const rpc::Responder<Response>& responder) {
  return [parts, responder](const Status& done) {
    if (!done.ok()) return FailChecked(parts, responder, done.error());
    ReplyChecked(parts, responder, Response());
  };
}

void GrantIt(const ActiveParts& parts, const rpc::CallContext& call, const hpb::GrantRequest& request,
             const rpc::Responder<hpb::GrantResponse>& responder) {
  const hpb::UserPermission& given = request.user_permission();
  auto permitted = FromPermission(given.permission());
  if (!permitted.ok()) return FailChecked(parts, responder, permitted.error());
  parts.logic->rights_admin.Grant({given.user(), std::move(permitted->scope), permitted->actions},
                                  request.merge_existing_permissions(), ContextOf(call), AnswerDone(parts, responder));
}

void RevokeIt(const ActiveParts& parts, const rpc::CallContext& call, const hpb::RevokeRequest& request,
              const rpc::Responder<hpb::RevokeResponse>& responder) {
  const hpb::UserPermission& taken = request.user_permission();
  auto permitted = FromPermission(taken.permission());
  if (!permitted.ok()) return FailChecked(parts, responder, permitted.error());
  parts.logic->rights_admin.Revoke({taken.user(), std::move(permitted->scope), permitted->actions}, ContextOf(call),
                                   AnswerDone(parts, responder));
}

// The scope that is asked for. HBase's clients name the table or the namespace together with the type.
Result<Scope> AskedScope(const hpb::GetUserPermissionsRequest& request) {
  if (request.has_type() && request.type() == hpb::Permission::Namespace) {
    if (const Status legal = CheckNamespaceName(request.namespace_name()); !legal.ok())
      return IllegalRequest(legal.error().message());
    return Scope::Namespace(request.namespace_name());
  }
  if (!request.has_type() || request.type() != hpb::Permission::Table) return Scope::Global();
  hpb::TablePermission asked;
  if (request.has_table_name()) *asked.mutable_table_name() = request.table_name();
  if (request.has_column_family()) asked.set_family(request.column_family());
  if (request.has_column_qualifier()) asked.set_qualifier(request.column_qualifier());
  return ScopeOf(asked);
}

// As in HBase: the entries of the asked row of hbase:acl. A table's row has those of its families and columns too. The
// global list of all users begins with the superusers, who have every right without an entry.
Result<hpb::GetUserPermissionsResponse> UserPermissions(const ::ratchet::rights::Judge* judge, const ActiveParts& parts,
                                                        const hpb::GetUserPermissionsRequest& request) {
  RATCHET_ASSIGN(const Scope asked, AskedScope(request));
  hpb::GetUserPermissionsResponse response;
  if (judge != nullptr && asked == Scope::Global() && request.user_name().empty()) {
    for (std::string& name : judge->Superusers())
      FillPermission({std::move(name), asked, Actions::All()}, *response.add_user_permission());
  }
  for (const RightsEntry& entry : parts.logic->rights.List()) {
    const bool in_row = asked.level <= Scope::Level::kNamespace ? entry.scope == asked : asked.Covers(entry.scope);
    if (!in_row || (!request.user_name().empty() && request.user_name() != entry.user)) continue;
    FillPermission(entry, *response.add_user_permission());
  }
  return response;
}

// `judge`: null if it is not known who is a superuser and who belongs to which group.
Result<hpb::HasUserPermissionsResponse> HasPermissions(const ::ratchet::rights::Judge* judge, const ActiveParts& parts,
                                                       const rpc::CallContext& call,
                                                       const hpb::HasUserPermissionsRequest& request) {
  const auto image = parts.logic->rights.Image(parts.epoch);
  const std::string& user = request.user_name().empty() ? call.user : request.user_name();
  const bool above = judge != nullptr && judge->IsSuperuser(user);
  const ::ratchet::rights::Subject subject =
      judge == nullptr ? ::ratchet::rights::Subject{user, {}} : judge->SubjectOf(user);
  hpb::HasUserPermissionsResponse response;
  for (const hpb::Permission& each : request.permission()) {
    RATCHET_ASSIGN(const Permitted asked, FromPermission(each));
    response.add_has_user_permission(above || image->Held(subject, asked.scope).HasAll(asked.actions));
  }
  return response;
}

// `judge`: as above.
::ratchet::pb::WhoAmIResponse CallerOf(const ::ratchet::rights::Judge* judge, const rpc::CallContext& call) {
  ::ratchet::pb::WhoAmIResponse response;
  if (!call.user.empty()) response.set_user(call.user);
  response.set_by(std::string(rpc::AuthenticationName(call.authentication)));
  if (!call.real_user.empty()) response.set_real_user(call.real_user);
  if (!call.claimed_user.empty()) response.set_claimed(call.claimed_user);
  if (judge != nullptr && !call.user.empty()) {
    for (const std::string& group : judge->SubjectOf(call.user).groups) response.add_group(group);
    response.set_superuser(judge->IsSuperuser(call.user));
  }
  response.set_member(call.member);
  response.set_peer(call.peer);
  return response;
}

// Who holds ADMIN in a scope gives and takes rights there. Only superusers change the rights of superusers.
template <class Request>
Result<Demands> DemandsOfChange(const ::ratchet::rights::Judge* judge, const Request& request) {
  RATCHET_ASSIGN(const Permitted asked, FromPermission(request.user_permission().permission()));
  if (judge != nullptr && judge->IsSuperuser(request.user_permission().user())) return Demands{Demand::Superuser()};
  return Demands{Demand::Of(asked.scope, Action::kAdmin)};
}

// A user may ask for its own rights. To ask for those of others takes ADMIN in each scope that is asked for.
Result<Demands> DemandsOfQuestion(const rpc::CallContext& call, const hpb::HasUserPermissionsRequest& request) {
  Demands demands;
  if (request.user_name().empty() || request.user_name() == call.user) return demands;
  for (const hpb::Permission& each : request.permission()) {
    RATCHET_ASSIGN(const Permitted asked, FromPermission(each));
    demands.push_back(Demand::Of(asked.scope, Action::kAdmin));
  }
  if (demands.empty()) demands.push_back(Demand::Of(Scope::Global(), Action::kAdmin));
  return demands;
}

void AddTargets(rpc::Service& service, const ::ratchet::rights::Judge* judge) {
  service.DemandsOf(methods::kGrant, [judge](const rpc::CallContext& /*call*/, const hpb::GrantRequest& request) {
    return DemandsOfChange(judge, request);
  });
  service.DemandsOf(methods::kRevoke, [judge](const rpc::CallContext& /*call*/, const hpb::RevokeRequest& request) {
    return DemandsOfChange(judge, request);
  });
  service.DemandsOf(
      methods::kGetUserPermissions,
      [](const rpc::CallContext& /*call*/, const hpb::GetUserPermissionsRequest& request) -> Result<Demands> {
        RATCHET_ASSIGN(Scope asked, AskedScope(request));
        return Demands{Demand::Of(std::move(asked), Action::kAdmin)};
      });
  service.DemandsOf(methods::kHasUserPermissions,
                    [](const rpc::CallContext& call, const hpb::HasUserPermissionsRequest& request) {
                      return DemandsOfQuestion(call, request);
                    });
}

Result<::ratchet::pb::ListRightsResponse> ListAllRights(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                        const ::ratchet::pb::ListRightsRequest& request) {
  ::ratchet::pb::ListRightsResponse response;
  ::ratchet::pb::RightsImage& image = *response.mutable_rights();
  image = parts.logic->rights.Image(parts.epoch)->ToProto();
  if (!request.has_user()) return response;
  auto& entries = *image.mutable_entries();
  entries.erase(
      std::remove_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.user() != request.user(); }),
      entries.end());
  return response;
}

}  // namespace

void AddRightsMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kWorkers, methods::kGrant, GrantIt);
  AnswerLater(service, env.gate, Need::kWorkers, methods::kRevoke, RevokeIt);
  Answer(service, env.gate, Need::kWorkers, methods::kGetUserPermissions,
         [judge = env.judge](const ActiveParts& parts, const rpc::CallContext& /*call*/,
                             const hpb::GetUserPermissionsRequest& request) {
           return UserPermissions(judge, parts, request);
         });
  Answer(service, env.gate, Need::kWorkers, methods::kHasUserPermissions,
         [judge = env.judge](const ActiveParts& parts, const rpc::CallContext& call,
                             const hpb::HasUserPermissionsRequest& request) {
           return HasPermissions(judge, parts, call, request);
         });
  AddTargets(service, env.judge);
}

void AddListRights(rpc::Service& service, ServiceEnv& env) {
  Answer(service, env.gate, Need::kWorkers, methods::kListRights, ListAllRights);
  service.DemandsOf(
      methods::kListRights,
      [](const rpc::CallContext& call, const ::ratchet::pb::ListRightsRequest& request) -> Result<Demands> {
        if (request.has_user() && request.user() == call.user) return Demands();
        return Demands{Demand::Of(Scope::Global(), Action::kAdmin)};
      });
  Answer(service, env.gate, Need::kRecovered, methods::kWhoAmI,
         [judge = env.judge](const ActiveParts& /*parts*/, const rpc::CallContext& call,
                             const ::ratchet::pb::WhoAmIRequest& /*request*/) -> Result<::ratchet::pb::WhoAmIResponse> {
           return CallerOf(judge, call);
         });
}

}  // namespace ratchet::master
