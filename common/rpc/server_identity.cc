// The user of a server's connection, S137 (identity is the connection's), the record of its calls, and what operators
// see of it.
#include <algorithm>
#include <utility>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {
namespace {

constexpr Millis kLeastTimeout{20};  // HBase's floor

}  // namespace

// The client's address without its port.
std::string ServerConnection::PeerHost() const {
  const auto split = SplitHostPort(peer_);
  return split.has_value() ? split->host : peer_;
}

// `address`: of the client; outlives the claims.
CallerClaims ServerConnection::ClaimsFor(std::string_view address) const {
  CallerClaims claims;
  claims.certificate = tls_ == nullptr ? nullptr : tls_->peer.get();
  claims.encrypted = tls_ != nullptr;
  claims.effective_user = facts_.user;
  claims.real_user = facts_.real_user;
  claims.address = address;
  if (shared_.options.kerberos != nullptr) claims.own_principal = shared_.options.kerberos->principal();
  if (kerberos_ != nullptr && kerberos_->login.has_value()) claims.principal = kerberos_->login->facts.principal;
  return claims;
}

Result<Caller> ServerConnection::DecideCaller() const {
  if (IsMember()) return Caller{facts_.user, Authentication::kMember, {}, {}};
  if (token_.has_value()) return TokenCaller();
  const auto& rules = shared_.options.callers;
  if (rules == nullptr && shared_.options.kerberos != nullptr)
    return Error(Code::kInvalidArgument, "this process has no rules for the users of Kerberos");
  if (rules == nullptr || RATCHET_MUTANT("rpc.believe_the_header"))
    return Caller{facts_.user, Authentication::kSimple, {}, {}};
  const std::string address = PeerHost();
  return rules->Decide(ClaimsFor(address));
}

// Called once the connection header is complete. Returns false if the client has no user here; it gets the reason.
bool ServerConnection::Identify() {
  if (shared_.options.callers != nullptr) caller_changes_ = shared_.options.callers->changes();  // before the decision
  auto caller = DecideCaller();
  const auto& audit = shared_.options.audit;
  if (!caller.ok()) {
    if (audit != nullptr) audit->Authenticated(AuditedRefusal(), caller.error().message());
    RATCHET_LOG(kDebug, "connection from {} has no user: {}", peer_, caller.error().message());
    Refuse(RemoteError(exception::kFatalConnection,
                       fmt::format("{}: {}", exception::kAccessDenied, caller.error().message())));
    return false;
  }
  caller_ = std::move(*caller);
  if (audit != nullptr) MakeRecord();
  if (audit != nullptr && caller_.authentication != Authentication::kMember) audit->Authenticated(Audited(), {});
  return true;
}

// Returns false if the connection must end, because its identity is no longer the one that it has begun with.
bool ServerConnection::IdentityHolds() {
  if (caller_.authentication == Authentication::kMember && !IsMember()) return false;  // its key was removed
  if (tls_ != nullptr && IsRevoked()) return false;
  if (kerberos_ != nullptr && !TicketHolds()) return false;
  if (!PlainTextHolds() || !CertificateHolds()) return false;
  if (token_.has_value()) return shared_.options.tokens->Holds(*token_);
  const auto& rules = shared_.options.callers;
  if (rules == nullptr) return true;
  const std::uint64_t changes = rules->changes();
  if (changes == caller_changes_) return true;
  caller_changes_ = changes;
  const auto caller = DecideCaller();
  return caller.ok() && *caller == caller_;
}

AuditedConnection ServerConnection::Audited() const {
  AuditedConnection connection;
  connection.peer = peer_;
  connection.user = caller_.user;
  connection.real_user = caller_.real_user;
  connection.claimed_user = facts_.user == caller_.user ? std::string() : facts_.user;
  connection.authentication = caller_.authentication;
  if (caller_.user.empty() && kerberos_ != nullptr && kerberos_->login.has_value()) {
    connection.authentication = Authentication::kKerberos;
    connection.user = kerberos_->login->facts.principal;  // refused: it has no user
  }
  if (tls_ != nullptr) connection.tls = tls_->session->Describe();
  if (tls_ != nullptr && tls_->peer != nullptr) connection.serial = tls_->peer->serial;
  return connection;
}

// The record of a client that has no user here. It has the user that the client has proven as the real one, and the one
// for whom it wanted to act as the claimed one.
AuditedConnection ServerConnection::AuditedRefusal() const {
  AuditedConnection connection = Audited();
  const auto& rules = shared_.options.callers;
  if (token_.has_value()) {
    connection.authentication = Authentication::kToken;
    connection.real_user = token_->user;
  } else if (rules != nullptr) {
    const std::string address = PeerHost();
    connection.real_user = rules->Proven(ClaimsFor(address));
    if (!connection.real_user.empty() && connection.authentication == Authentication::kSimple)
      connection.authentication = Authentication::kCertificate;
  }
  return connection;
}

std::optional<ShownConnection> ServerConnection::Shown() {
  if (!proven_.load() || ended()) return std::nullopt;
  const auto cut = [](const std::string& text) { return text.substr(0, kMostShownBytes); };
  ShownConnection facts;
  facts.id = id_;
  facts.peer = peer_;
  facts.user = cut(caller_.user);
  facts.real_user = cut(caller_.real_user);
  facts.claimed_user = cut(caller_.claimed_user);
  facts.authentication = caller_.authentication;
  if (member_.has_value()) facts.member = cut(member_->name.ToString());
  if (tls_ != nullptr) facts.tls = tls_->session->Describe();
  if (tls_ != nullptr && tls_->peer != nullptr) facts.serial = cut(tls_->peer->serial);
  facts.service = service_->name();
  facts.since_ms = since_ms_;
  facts.calls = calls_.load();
  return facts;
}

std::vector<std::shared_ptr<ServerConnection>> ConnectionList::All() {
  std::vector<std::shared_ptr<ServerConnection>> held;
  const MutexLock lock(mutex_);
  for (ServerConnection* connection : connections_)
    if (auto alive = connection->weak_from_this().lock()) held.push_back(std::move(alive));
  return held;
}

// S150 (only members act for others): of any other client the attribute has no effect.
Result<std::optional<ActingFor>> ServerConnection::ActsFor(const hbase::pb::RequestHeader& header) const {
  if (header.attribute().empty() || (!IsMember() && !RATCHET_MUTANT("rpc.any_client_acts_for_others")))
    return std::optional<ActingFor>();
  return ReadActingFor(header);
}

void ServerConnection::MakeRecord() { record_ = RecordFor(Audited()); }

std::shared_ptr<const CallRecord> ServerConnection::RecordFor(AuditedConnection connection) const {
  auto record = std::make_shared<CallRecord>();
  record->audit = shared_.options.audit;
  record->connection = std::make_shared<const AuditedConnection>(std::move(connection));
  record->resume = [gate = shared_.gate, pool = &shared_.pool](QueueClass queue, std::shared_ptr<CallState> call) {
    gate->WhileOpen([&] { call = pool->Resume(queue, std::move(call)); });
    if (call != nullptr) call->Drop();
  };
  return record;
}

std::shared_ptr<const CallRecord> ServerConnection::RecordOf(const ActingFor& acting) const {
  if (record_ == nullptr) return nullptr;
  AuditedConnection client;
  client.peer = acting.peer;
  client.user = acting.user;
  client.real_user = acting.real_user;
  client.authentication = acting.authentication;
  return RecordFor(std::move(client));
}

CallContext ServerConnection::ContextOf(const hbase::pb::RequestHeader& header,
                                        const std::optional<ActingFor>& acting) const {
  CallContext context;
  context.user = caller_.user;
  context.authentication = caller_.authentication;
  context.real_user = caller_.real_user;
  context.claimed_user = caller_.claimed_user;
  context.peer = peer_;
  if (acting.has_value()) {
    context.user = acting->user;
    context.authentication = acting->authentication;
    context.real_user = acting->real_user;
    context.claimed_user.clear();
    context.peer = acting->peer;
  }
  context.service = service_->name();
  context.method = header.method_name();
  context.call_id = header.call_id();
  context.priority = header.priority();
  context.received = SystemClock().Now();
  context.timeout = Millis(header.timeout());
  if (header.timeout() > 0) context.deadline = context.received + std::max(context.timeout, kLeastTimeout);
  context.has_codec = facts_.has_codec;
  context.codec_has_tags = facts_.codec_has_tags;
  context.compression = facts_.compression;
  context.has_version_info = facts_.has_version_info;
  context.member = IsMember() && !acting.has_value();
  context.connection = id_;
  return context;
}

Error ServerConnection::RefuseStranger(const std::string& method) const {
  Error error = RemoteError(exception::kAccessDenied,
                            fmt::format("{} is for masters and region servers of this cluster only: the client has not "
                                        "proven that it has the key in cluster.key below --root",
                                        method));
  if (record_ != nullptr) {
    CallContext context;
    context.service = service_->name();
    context.method = method;
    record_->audit->Denied(context, record_->connection, error.message());
  }
  return error;
}

}  // namespace ratchet::rpc
