// A server's connection whose client logs in with Kerberos. Logins are computed on the threads of TLS handshakes,
// within the bounds of these, because they read the keytab and compute; the connection is not read meanwhile.
#include "common/rpc/kerberos_state.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {
namespace {

constexpr std::size_t kRoomForWrapping = 64u << 10;
// Clocks of the KDC and of this process may differ by this much, as by default in Kerberos.
constexpr std::int64_t kTicketClockSkewMs = 300'000;

}  // namespace

void ServerConnection::BeginKerberos() {
  const auto& acceptor = shared_.options.kerberos;
  if (acceptor == nullptr) {
    const Error none = RemoteError(exception::kBadAuth, "this process accepts no Kerberos (--kerberos-keytab)");
    return RefuseLogin(none);
  }
  if (beyond_) return CloseUnproven();
  std::string address = PeerHost();
  if (!shared_.handshakes.Enter(address)) {
    const Error full = RemoteError(exception::kCallQueueTooBig, "too many logins are in progress; try again later");
    return RefuseLogin(full);
  }
  GssapiServer exchange(acceptor->Begin(), acceptor->protections());
  kerberos_ = std::make_unique<ServerKerberos>(std::move(exchange), std::move(address));
  CloseUnlessSetUpWithin(std::min(TlsHandshakes::kWithin, shared_.options.setup_timeout));
  phase_ = Phase::kKerberos;
}

// Before the end of a login, a connection holds one message of the exchange and the bytes of one read.
bool ServerConnection::ConsumeKerberos() {
  std::string message;
  if (!CutMessage(kMostGssapiMessage, message)) return false;
  phase_ = Phase::kKerberosWork;
  shared_.handshakes.Post([self = shared_from_this(), message = std::move(message)] {
    auto reply = self->kerberos_->exchange.OnMessage(message);
    ServerConnection& connection = *self;
    asio::post(connection.executor(),
               [self, reply = std::move(reply)]() mutable { self->OnKerberos(std::move(reply)); });
  });
  return false;
}

void ServerConnection::OnKerberos(Result<std::optional<std::string>> reply) {
  if (phase_ != Phase::kKerberosWork) return;
  phase_ = Phase::kKerberos;
  if (!reply.ok()) {
    RefuseLogin(reply.error());
    return WaitReadable();
  }
  if (reply->has_value()) Send({ServerUnit(**reply), {}});
  if (kerberos_->exchange.login().has_value() && !EndLogin()) return WaitReadable();
  Consume();
  if (!AccountInput()) {
    Refuse(RemoteError(exception::kCallQueueTooBig, "too many unfinished requests; try again later"));
    ForgetInput();
  }
  if (!paused_.load()) WaitReadable();
}

// Returns false if the connection ends.
bool ServerConnection::EndLogin() {
  LeaveLogin();
  kerberos_->login = kerberos_->exchange.login();
  const KerberosLogin& login = *kerberos_->login;
  kerberos_->ends_ms = SystemClock().WallMillis() + login.facts.lives_ms + kTicketClockSkewMs;
  RATCHET_LOG(kDebug, "connection from {}: Kerberos, {}, {}", peer_, login.facts.principal,
              ProtectionName(login.protection));
  phase_ = Phase::kHeader;
  CloseUnlessSetUpWithin(shared_.options.setup_timeout);
  if (login.protection == Protection::kAuth) return true;
  auto stream = ProtectedStream::Make(kerberos_->exchange.TakeContext(), login);
  if (!stream.ok()) {
    RefuseLogin(stream.error());
    return false;
  }
  kerberos_->stream = std::move(*stream);
  std::string follows;
  static_cast<void>(input_.CutBytes(input_.size(), follows));
  return TakeProtected(follows);
}

void ServerConnection::LeaveLogin() {
  if (std::exchange(kerberos_->in_login, false)) shared_.handshakes.Leave(kerberos_->address);
}

// Returns false if the caller must not continue to read.
bool ServerConnection::TakeProtected(std::string_view bytes) {
  // Also before the header: the user is known, and one read may have the header and the first request.
  const std::size_t most = shared_.options.max_frame_bytes + kRoomForWrapping;
  std::string plain;
  const Status opened = kerberos_->stream->Open(bytes, most, plain);
  if (!opened.ok()) {
    RATCHET_LOG(kWarn, "connection from {} closed: {}", peer_, opened.error().message());
    Refuse(RemoteError(exception::kFatalConnection, opened.error().message()));
    WaitReadable();
    return false;
  }
  capture_.ToServer(plain);
  input_.Append(plain);
  return true;
}

// S158 (a connection ends with its ticket).
bool ServerConnection::TicketHolds() const {
  return SystemClock().WallMillis() < kerberos_->ends_ms || RATCHET_MUTANT("rpc.tickets_do_not_end");
}

// The client asks which principal this process has, and continues on this connection.
void ServerConnection::AnswerPrincipal() {
  const auto& acceptor = shared_.options.kerberos;
  Send({acceptor != nullptr
            ? PrincipalFrame(acceptor->principal())
            : ConnectionExceptionFrame(RemoteError(exception::kSecurityNotEnabled, "security is not enabled")),
        {}});
}

}  // namespace ratchet::rpc
