// Verbs on the rights of users.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/printable.h"
#include "common/model/codec.h"
#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/caller.pb.h"
#include "common/model/proto/rights.pb.h"
#include "common/rights/rights_image.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

namespace hpb = ::hbase::pb;
using rights::Actions;
using rights::Scope;

constexpr const char* kLetters = "LETTERS";
constexpr const char* kScope = "[@NAMESPACE | TABLE]";
constexpr const char* kColumn = "FAMILY[:QUALIFIER]";

struct RightsFlags {
  std::string user;
  std::string letters;
  std::string scope;
  std::string column;
  bool replace = false;
};

Result<Scope> ScopeOf(const RightsFlags& flags) {
  if (flags.scope.empty()) return Scope::Global();
  if (flags.scope.front() == '@') {
    if (flags.column.empty()) return Scope::Namespace(flags.scope.substr(1));
    return Error(Code::kInvalidArgument, "a namespace has no column");
  }
  RATCHET_ASSIGN(TableName table, TableName::Parse(flags.scope));
  if (flags.column.empty()) return Scope::Table(std::move(table));
  const auto colon = flags.column.find(':');
  const std::string family = flags.column.substr(0, colon);
  if (colon == std::string::npos) return Scope::Family(std::move(table), family);
  return Scope::Column(std::move(table), family, flags.column.substr(colon + 1));
}

std::string TextOf(const Scope& scope) {
  switch (scope.level) {
    case Scope::Level::kGlobal: return "everything";
    case Scope::Level::kNamespace: return "@" + scope.table.ns;
    case Scope::Level::kTable: return scope.table.ToString();
    case Scope::Level::kFamily: return fmt::format("{} {}", scope.table.ToString(), PrintableText(scope.family));
    case Scope::Level::kColumn: break;
  }
  return fmt::format("{} {}:{}", scope.table.ToString(), PrintableText(scope.family), PrintableText(scope.qualifier));
}

template <class Message>
void AddActions(Actions actions, Message& to) {
  for (unsigned number = 0; number < rights::kActionLetters.size(); ++number) {
    if (actions.HasAny(Actions::FromBits(1U << number))) to.add_action(static_cast<hpb::Permission::Action>(number));
  }
}

void FillPermission(const Scope& scope, Actions actions, hpb::Permission& permission) {
  if (scope.level == Scope::Level::kGlobal) {
    permission.set_type(hpb::Permission::Global);
    return AddActions(actions, *permission.mutable_global_permission());
  }
  if (scope.level == Scope::Level::kNamespace) {
    permission.set_type(hpb::Permission::Namespace);
    permission.mutable_namespace_permission()->set_namespace_name(scope.table.ns);
    return AddActions(actions, *permission.mutable_namespace_permission());
  }
  permission.set_type(hpb::Permission::Table);
  hpb::TablePermission& in = *permission.mutable_table_permission();
  ToProto(scope.table, *in.mutable_table_name());
  if (scope.level >= Scope::Level::kFamily) in.set_family(scope.family);
  if (scope.level >= Scope::Level::kColumn) in.set_qualifier(scope.qualifier);
  AddActions(actions, in);
}

Result<hpb::UserPermission> PermissionOf(const RightsFlags& flags, const Scope& scope) {
  const auto actions = Actions::Parse(flags.letters);
  if (!actions)
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}': expected some of the letters R, W, X, C and A", flags.letters));
  hpb::UserPermission permission;
  permission.set_user(flags.user);
  FillPermission(scope, *actions, *permission.mutable_permission());
  return permission;
}

Result<int> Grant(Session& session, const RightsFlags& flags) {
  RATCHET_ASSIGN(const Scope scope, ScopeOf(flags));
  hpb::GrantRequest request;
  RATCHET_ASSIGN(*request.mutable_user_permission(), PermissionOf(flags, scope));
  request.set_merge_existing_permissions(!flags.replace);
  const auto granted = session.admin.Call(methods::kGrant, request);
  if (!granted.ok()) return granted.error();
  session.printer.Document({{"granted", flags.letters}, {"user", flags.user}, {"scope", TextOf(scope)}}, {});
  return kExitOk;
}

Result<int> Revoke(Session& session, const RightsFlags& flags) {
  RATCHET_ASSIGN(const Scope scope, ScopeOf(flags));
  hpb::RevokeRequest request;
  const RightsFlags taken{flags.user, flags.letters == "all" ? "" : flags.letters, {}, {}, false};
  RATCHET_ASSIGN(*request.mutable_user_permission(), PermissionOf(taken, scope));
  const auto revoked = session.admin.Call(methods::kRevoke, request);
  if (!revoked.ok()) return revoked.error();
  session.printer.Document({{"revoked", flags.letters}, {"user", flags.user}, {"scope", TextOf(scope)}}, {});
  return kExitOk;
}

Result<int> ListRights(Session& session, const RightsFlags& flags) {
  ratchet::pb::ListRightsRequest request;
  if (!flags.user.empty()) request.set_user(flags.user);
  RATCHET_ASSIGN(const auto response, session.admin.Call(methods::kListRights, request));
  RATCHET_ASSIGN(const auto image, rights::RightsImage::FromProto(response.rights()));
  std::vector<std::vector<Field>> rows;
  for (const auto& entry : image.Entries()) rows.push_back({entry.user, TextOf(entry.scope), entry.actions.Letters()});
  for (const Scope& scope : image.damaged()) rows.push_back({"(damaged)", TextOf(scope), ""});
  session.printer.Table({"USER", "SCOPE", "ACTIONS"}, rows);
  return kExitOk;
}

Result<int> WhoAmI(Session& session) {
  RATCHET_ASSIGN(const auto who, session.admin.Call(methods::kWhoAmI, ratchet::pb::WhoAmIRequest()));
  session.printer.Document({{"user", TextOrNull(who.user())},
                            {"by", who.by()},
                            {"real user", TextOrNull(who.real_user())},
                            {"claimed", TextOrNull(who.claimed())},
                            {"groups", std::vector<std::string>(who.group().begin(), who.group().end())},
                            {"superuser", who.superuser()},
                            {"member", who.member()},
                            {"address", who.peer()}},
                           {});
  return kExitOk;
}

void AddUser(CLI::App& verb, RightsFlags& flags) {
  Need(verb, "user", flags.user, kind::kText, "User, or group as @NAME");
}

void AddScope(CLI::App& verb, RightsFlags& flags) {
  Take(verb, "scope", flags.scope, kScope, "Namespace or table; without it: everything");
  Take(verb, "column", flags.column, kColumn, "Family or column of the table");
}

struct GrantFlags : RightsFlags {
  void Bind(CLI::App& verb) {
    AddUser(verb, *this);
    Need(verb, "actions", letters, kLetters, "Some of R(ead), W(rite), X (execute), C(reate), A(dminister)");
    AddScope(verb, *this);
    verb.add_flag("--replace", replace, "Replace what the user has in this scope, instead of adding to it");
  }
};

struct RevokeFlags : RightsFlags {
  void Bind(CLI::App& verb) {
    AddUser(verb, *this);
    Need(verb, "actions", letters, kLetters, "Some of R, W, X, C, A; or 'all'");
    AddScope(verb, *this);
  }
};

struct ListRightsFlags : RightsFlags {
  void Bind(CLI::App& verb) {
    Take(verb, "user", user, kind::kText, "List only the rights of this user, or of this group as @NAME");
  }
};

}  // namespace

Verbs RightsVerbs() {
  return {Verb<ListRightsFlags>("rights", "List what users and groups may do", {"rights", "rights alice"}, ListRights),
          Plain("whoami", "Show as whom the cluster knows this client, and how it has shown its user",
                {"whoami", "whoami --json"}, WhoAmI),
          Verb<GrantFlags>(
              "grant", "Let a user or group read, write, execute, create or administer",
              {"grant alice RW orders", "grant alice R orders f:q", "grant @ops A", "grant etl RWC @sales"}, Grant),
          Verb<RevokeFlags>("revoke", "Take away what was granted in exactly this scope",
                            {"revoke alice W orders", "revoke @ops all"}, Revoke)};
}

}  // namespace ratchet::cli
