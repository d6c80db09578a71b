// A server's connection whose client shows a token, S151 (a token is its user's only).
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/digests.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {

// Before its end, a connection holds one message of the exchange and the bytes of one read.
void ServerConnection::BeginDigest() {
  const auto& tokens = shared_.options.tokens;
  if (tokens == nullptr) {
    const Error none = RemoteError(exception::kBadAuth, "this process accepts no tokens");
    return Refuse(none);
  }
  digest_.emplace(ToBase64(RandomBytes(kDigestNonceBytes)),
                  [tokens](const std::string& identifier) { return tokens->PasswordOf(identifier); });
  phase_ = Phase::kDigest;
}

bool ServerConnection::ConsumeDigest() {
  std::string unit;
  if (!CutMessage(kMostDigestResponse, unit)) return false;
  const auto reply = digest_->OnMessage(unit);
  if (!reply.ok()) {
    RefuseLogin(reply.error());
    return false;
  }
  if (digest_->identifier().has_value()) {
    auto token = shared_.options.tokens->UserOf(*digest_->identifier());
    if (!token.ok()) {
      RefuseLogin(token.error());
      return false;
    }
    token_ = std::move(*token);
    digest_.reset();
    phase_ = Phase::kHeader;
  }
  Send({ServerUnit(*reply), {}});
  return true;
}

// Cuts the next message of a login by SASL; false: it is not complete, or was refused.
bool ServerConnection::CutMessage(std::size_t most, std::string& message) {
  const FrameBuffer::Cut cut = input_.Next(message, most);
  if (cut == FrameBuffer::Cut::kTooBig || cut == FrameBuffer::Cut::kBad)
    RefuseLogin(Error(Code::kInvalidArgument, fmt::format("a message of {} bytes", ReadBig32(input_.Peek()))));
  return cut == FrameBuffer::Cut::kFrame;
}

// In the form of SASL, because a client reads nothing else before the end of its login.
void ServerConnection::RefuseLogin(const Error& error) {
  if (kerberos_ != nullptr) LeaveLogin();
  const char* const login = digest_.has_value() ? "token" : "Kerberos login";
  const std::string why = fmt::format("{} refused: {}", login, error.message());
  if (const auto& audit = shared_.options.audit; audit != nullptr) audit->Authenticated(Audited(), why);
  if (digest_.has_value()) {
    RATCHET_LOG(kDebug, "connection from {}: {}", peer_, why);
  } else {
    RATCHET_LOG(kInfo, "connection from {}: {}", peer_, why);
  }
  counters_->bad_connections.fetch_add(1);
  const std::string& named = error.remote_class();
  Send({ServerRefusal(named.empty() ? exception::kSasl : named, why), {}});
  Linger();
}

// A client with a token sends no user. One that names another user than the token's would act for it.
Result<Caller> ServerConnection::TokenCaller() const {
  const std::string& claimed = facts_.user.empty() ? facts_.real_user : facts_.user;
  if (!claimed.empty() && claimed != token_->user && !RATCHET_MUTANT("rpc.token_of_another_user"))
    return RemoteError(exception::kAccessDenied,
                       fmt::format("a token of user {} acts for no other user", token_->user));
  const std::string& user = claimed.empty() ? token_->user : claimed;
  return Caller{user, Authentication::kToken, {}, {}};
}

}  // namespace ratchet::rpc
