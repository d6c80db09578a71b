// Tokens: the counterpart of passwords in Hadoop's world. A token is an identifier, which names its user, its key and
// its end, and a password, which is the HMAC-SHA256 of the identifier by that key. So a server needs only the key.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/rights/token_keys.h"

namespace ratchet::identity {

inline constexpr std::size_t kMostTokenIdentifier = 2'048;
inline constexpr std::string_view kTokenKind = "HBASE_AUTH_TOKEN";

struct TokenFacts {
  std::string user;
  std::uint32_t key_id = 0;
  std::int64_t issued_ms = 0;
  std::int64_t expires_ms = 0;
  std::int64_t sequence = 0;
  bool operator==(const TokenFacts&) const = default;
};

// HBase's form: a 4-byte length and a hbase.pb.TokenIdentifier.
[[nodiscard]] std::string EncodeTokenIdentifier(const TokenFacts& facts);
// kInvalidArgument: another form, an empty user, or no end.
[[nodiscard]] Result<TokenFacts> ReadTokenIdentifier(std::string_view bytes);
[[nodiscard]] std::string TokenPassword(const rights::TokenKey& key, std::string_view identifier);

struct IssuedToken {
  std::string identifier;
  std::string password;
  std::int64_t expires_ms = 0;
};
// Signs by the key that the facts name; without one, by the newest key that every server has. kUnavailable: there is
// none at this time.
[[nodiscard]] Result<IssuedToken> SignToken(const rights::TokenKeys& keys, TokenFacts facts);
// The key by which SignToken would sign at this time; null: there is none.
[[nodiscard]] const rights::TokenKey* SigningKey(const rights::TokenKeys& keys, std::int64_t now_ms);

// A file of Hadoop's credentials (version 0) with this token. `service`: the cluster's id, by which HBase's clients
// find it.
[[nodiscard]] std::string TokenFile(const IssuedToken& token, std::string_view service);

}  // namespace ratchet::identity
