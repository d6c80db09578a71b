#include "common/identity/token_check.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "common/rights/rights_entry.h"

namespace ratchet::identity {
namespace {

Error Invalid(std::string why) {
  return {Code::kFailedPrecondition, std::move(why), std::string(exception::kInvalidToken)};
}

}  // namespace

Result<rights::TokenKey> TokenCheck::KeyOf(const TokenFacts& token) const {
  const auto keys = keys_.token_keys();
  if (keys == nullptr) return Invalid("this process does not have the keys of tokens yet; try again later");
  const auto found =
      std::find_if(keys->begin(), keys->end(), [&](const rights::TokenKey& key) { return key.id == token.key_id; });
  if (found == keys->end())
    return Invalid(fmt::format("key {} is not known: the token is of another cluster, or was withdrawn", token.key_id));
  const std::int64_t now = clock_.WallMillis();
  const std::int64_t skew = kTokenClockSkew.count();
  if (now > std::min(token.expires_ms, found->expires_ms) + skew && !RATCHET_MUTANT("identity.expired_tokens"))
    return Invalid(fmt::format("the token of user {} has expired", token.user));
  const auto revoked = keys_.revoked_tokens();  // after the keys
  if (revoked == nullptr) return Invalid("this process does not know the revoked tokens yet; try again later");
  const auto entry = revoked->find(token.sequence);
  if (entry != revoked->end() && (entry->second.empty() || entry->second == token.user) &&
      !RATCHET_MUTANT("identity.revoked_tokens"))
    return Invalid(fmt::format("the token of user {} was revoked", token.user));
  if (token.issued_ms > now + skew) return Invalid("the token was issued in the future: compare the clocks");
  return *found;
}

Result<std::string> TokenCheck::PasswordOf(std::string_view identifier) const {
  auto token = ReadTokenIdentifier(identifier);
  if (!token.ok()) return Invalid(token.error().message());
  if (const Status named = rights::CheckGrantee(token->user); !named.ok()) return Invalid(named.error().message());
  RATCHET_ASSIGN(const rights::TokenKey key, KeyOf(*token));
  return TokenPassword(key, identifier);
}

Result<rpc::TokenUser> TokenCheck::UserOf(std::string_view identifier) const {
  RATCHET_ASSIGN(const TokenFacts token, ReadTokenIdentifier(identifier));
  return rpc::TokenUser{token.user, token.key_id, token.expires_ms, token.sequence};
}

bool TokenCheck::Holds(const rpc::TokenUser& token) const {
  TokenFacts facts;
  facts.key_id = token.key_id;
  facts.expires_ms = token.expires_ms;
  facts.user = token.user;
  facts.sequence = token.sequence;
  return KeyOf(facts).ok();
}

}  // namespace ratchet::identity
