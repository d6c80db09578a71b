// RatchetService: tokens, with which clients connect that have neither a certificate nor Kerberos.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/identity/token.h"
#include "common/rights/judge.h"
#include "common/rights/rights_entry.h"
#include "common/rpc/digests.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/cluster/errors.h"
#include "master/procedures/core/master_options.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/rpc/token_methods.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

using ::ratchet::rights::Action;
using ::ratchet::rights::Demand;
using ::ratchet::rights::Demands;
using ::ratchet::rights::Scope;
using Issued = ::ratchet::pb::IssueTokenResponse;

constexpr std::size_t kMostListedTokens = 10'000;  // in one answer

const std::string& UserOf(const rpc::CallContext& call, const ::ratchet::pb::IssueTokenRequest& request) {
  return request.has_user() ? request.user() : call.user;
}

// A token of another user is worth that user's rights, so only superusers issue those of superusers.
Demands DemandsOfIssue(const ::ratchet::rights::Judge* judge, const rpc::CallContext& call, const std::string& user) {
  if (user == call.user) return {};
  if (judge != nullptr && judge->IsSuperuser(user)) return {Demand::Superuser()};
  return {Demand::Of(Scope::Global(), Action::kAdmin)};
}

// In each mode of rights: otherwise every certificate would be worth those of all users.
Status CheckIssue(const ::ratchet::rights::Judge* judge, const rpc::CallContext& call, const std::string& user) {
  RATCHET_TRY(MayIssueToken(call, user));
  if (judge == nullptr) return Ok();
  for (const Demand& demand : DemandsOfIssue(judge, call, user))
    RATCHET_TRY(judge->Verdict({call.user, call.member}, demand));
  return Ok();
}

TokenKeyOrder OrderOf(const MasterOptions& options, std::int64_t now_ms, bool withdraw) {
  TokenKeyOrder order;
  order.secret = rpc::RandomBytes(::ratchet::rights::kTokenKeyBytes);
  order.withdraw = withdraw;
  order.made_ms = now_ms;
  // A token that is issued just before the next key is made lives as long as others.
  order.expires_ms = now_ms + options.token_key_roll.Get().count() + options.token_lifetime.Get().count();
  order.unless_made_since_ms = now_ms - options.token_key_roll.Get().count() + 1;
  return order;
}

class TokenIssuer : public std::enable_shared_from_this<TokenIssuer> {
 public:
  TokenIssuer(std::string cluster_id, const ::ratchet::rights::Judge* judge)
      : cluster_id_(std::move(cluster_id)), judge_(judge) {}

  void Issue(const ActiveParts& parts, const rpc::CallContext& call, const ::ratchet::pb::IssueTokenRequest& request,
             const rpc::Responder<Issued>& responder) {
    const std::string user = UserOf(call, request);
    if (const Status may = CheckIssue(judge_, call, user); !may.ok()) return FailChecked(parts, responder, may.error());
    const MasterEnv& env = parts.logic->env;
    const std::int64_t now = env.clock.WallMillis();
    const auto keys = parts.logic->rights.TokenKeys();
    const TokenKeyOrder order = OrderOf(env.options, now, /*withdraw=*/false);
    const bool fresh = !keys->empty() && keys->back().made_ms >= order.unless_made_since_ms;
    IssuedToken token;
    token.user = user;
    token.asked_by = call.user;
    token.peer = call.peer;
    if (identity::SigningKey(*keys, now) != nullptr) {
      if (!fresh) parts.logic->rights_admin.ReplaceKey(order, ContextOf(call), [](const Status&) {});
      return Record(parts, std::move(token), ContextOf(call), responder);
    }
    parts.logic->rights_admin.ReplaceKey(
        order, ContextOf(call),
        [self = shared_from_this(), parts, token, context = ContextOf(call), responder](const Status& done) {
          if (!done.ok()) return FailChecked(parts, responder, done.error());
          self->Record(parts, token, context, responder);
        });
  }

 private:
  // A token is given to its client when its record is durable, so no token is alive that is not listed.
  void Record(const ActiveParts& parts, IssuedToken token, RequestContext context,
              const rpc::Responder<Issued>& responder) {
    const MasterEnv& env = parts.logic->env;
    token.issued_ms = env.clock.WallMillis();
    const auto keys = parts.logic->rights.TokenKeys();
    const auto* const key = identity::SigningKey(*keys, token.issued_ms);
    if (key == nullptr) return FailChecked(parts, responder, NoKey());
    token.key_id = key->id;
    token.expires_ms = std::min(token.issued_ms + env.options.token_lifetime.Get().count(), key->expires_ms);
    parts.logic->rights_admin.IssueToken(
        token, std::move(context),
        [self = shared_from_this(), parts, token, responder](const Result<ProcId>& pid, const std::string&) {
          if (!pid.ok()) return FailChecked(parts, responder, pid.error());
          self->Answer(parts, token, *pid, responder);
        });
  }

  static Error NoKey() { return {Code::kUnavailable, "the cluster has no key for tokens; try again later"}; }

  void Answer(const ActiveParts& parts, const IssuedToken& recorded, ProcId pid,
              const rpc::Responder<Issued>& responder) {
    const auto token = identity::SignToken(*parts.logic->rights.TokenKeys(),
                                           {recorded.user, recorded.key_id, recorded.issued_ms, recorded.expires_ms,
                                            static_cast<std::int64_t>(pid.value())});
    if (!token.ok()) return FailChecked(parts, responder, token.error());
    Issued response;
    response.set_pid(pid.value());
    response.set_identifier(token->identifier);
    response.set_password(token->password);
    response.set_service(cluster_id_);
    response.set_expires_ms(token->expires_ms);
    ReplyChecked(parts, responder, response);
  }

  const std::string cluster_id_;
  const ::ratchet::rights::Judge* const judge_;  // null: every user may do everything
};

// A user who has proven its name sees and revokes the own tokens. Those of others need ADMIN everywhere.
Demands DemandsOfTokens(const rpc::CallContext& call, const std::string& user) {
  const bool proven =
      call.authentication == rpc::Authentication::kCertificate || call.authentication == rpc::Authentication::kKerberos;
  if (proven && user == call.user) return {};
  return {Demand::Of(Scope::Global(), Action::kAdmin)};
}

Result<::ratchet::pb::ListTokensResponse> ListThem(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                   const ::ratchet::pb::ListTokensRequest& request) {
  const std::int64_t now = parts.logic->env.clock.WallMillis();
  const auto keys = parts.logic->rights.TokenKeys();
  const std::size_t most = std::min<std::size_t>(request.most(), kMostListedTokens);
  ::ratchet::pb::ListTokensResponse response;
  std::uint64_t left_out = 0;
  for (const IssuedToken& token : parts.logic->rights.Tokens()) {
    if (request.has_user_name() && token.user != request.user_name()) continue;
    const bool has_key =
        std::any_of(keys->begin(), keys->end(), [&](const auto& key) { return key.id == token.key_id; });
    if (token.expires_ms < now || !has_key || (token.revoked && !request.revoked())) continue;
    if (static_cast<std::size_t>(response.token_size()) >= most) {
      ++left_out;
      continue;
    }
    // The record of the store has the same form.
    static_cast<void>(response.add_token()->ParseFromString(TokenRecord(token)));
  }
  response.set_left_out(left_out);
  return response;
}

void RevokeThem(const ActiveParts& parts, const rpc::CallContext& call,
                const ::ratchet::pb::RevokeTokensRequest& request,
                const rpc::Responder<::ratchet::pb::RevokeTokensResponse>& responder) {
  const std::string& user = request.has_user_name() ? request.user_name() : call.user;
  const auto sequence = request.has_sequence() ? std::optional(request.sequence()) : std::nullopt;
  parts.logic->rights_admin.RevokeTokens(user, sequence, ContextOf(call),
                                         [parts, responder](const Result<ProcId>& pid, const std::string& result) {
                                           if (!pid.ok()) return FailChecked(parts, responder, pid.error());
                                           std::uint64_t revoked = 0;
                                           std::from_chars(result.data(), result.data() + result.size(), revoked);
                                           ::ratchet::pb::RevokeTokensResponse response;
                                           response.set_revoked(revoked);
                                           response.set_pid(pid->value());
                                           ReplyChecked(parts, responder, response);
                                         });
}

void ReplaceIt(const ActiveParts& parts, const rpc::CallContext& call,
               const ::ratchet::pb::ReplaceTokenKeyRequest& request,
               const rpc::Responder<::ratchet::pb::ReplaceTokenKeyResponse>& responder) {
  const MasterEnv& env = parts.logic->env;
  TokenKeyOrder order = OrderOf(env.options, env.clock.WallMillis(), request.withdraw());
  order.unless_made_since_ms = order.made_ms;
  parts.logic->rights_admin.ReplaceKey(order, ContextOf(call), [parts, responder](const Status& done) {
    if (!done.ok()) return FailChecked(parts, responder, done.error());
    ::ratchet::pb::ReplaceTokenKeyResponse response;
    const auto keys = parts.logic->rights.TokenKeys();
    if (!keys->empty()) response.set_key_id(keys->back().id);
    ReplyChecked(parts, responder, response);
  });
}

}  // namespace

Status MayIssueToken(const rpc::CallContext& call, const std::string& user) {
  const bool shown =
      call.authentication == rpc::Authentication::kCertificate || call.authentication == rpc::Authentication::kKerberos;
  if (!shown && !RATCHET_MUTANT("master.token_by_token"))
    return rpc::RemoteError(rpc::exception::kAccessDenied,
                            "tokens are issued only to clients whose user comes from a certificate (--tls-user-from) "
                            "or from Kerberos");
  const Status named = ::ratchet::rights::CheckGrantee(user);
  if (!named.ok()) return IllegalRequest(named.error().message());
  if (user.front() == ::ratchet::rights::kGroupMark) return IllegalRequest("a token belongs to a user, not to a group");
  return Ok();
}

void AddTokenMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(
      service, env.gate, Need::kWorkers, methods::kIssueToken,
      [issuer = std::make_shared<TokenIssuer>(env.gate.cluster_id(), env.judge)](
          const ActiveParts& parts, const rpc::CallContext& call, const ::ratchet::pb::IssueTokenRequest& request,
          const rpc::Responder<Issued>& responder) { issuer->Issue(parts, call, request, responder); });
  AnswerLater(service, env.gate, Need::kWorkers, methods::kReplaceTokenKey, ReplaceIt);
  Answer(service, env.gate, Need::kWorkers, methods::kListTokens, ListThem);
  AnswerLater(service, env.gate, Need::kWorkers, methods::kRevokeTokens, RevokeThem);
  service.DemandsOf(
      methods::kListTokens,
      [](const rpc::CallContext& call, const ::ratchet::pb::ListTokensRequest& request) -> Result<Demands> {
        return DemandsOfTokens(call, request.user_name());
      });
  service.DemandsOf(
      methods::kRevokeTokens,
      [](const rpc::CallContext& call, const ::ratchet::pb::RevokeTokensRequest& request) -> Result<Demands> {
        return DemandsOfTokens(call, request.has_user_name() ? request.user_name() : call.user);
      });
  service.DemandsOf(methods::kIssueToken,
                    [judge = env.judge](const rpc::CallContext& call, const ::ratchet::pb::IssueTokenRequest& request)
                        -> Result<Demands> { return DemandsOfIssue(judge, call, UserOf(call, request)); });
}

}  // namespace ratchet::master
