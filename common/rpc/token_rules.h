// TokenRules: which tokens a server accepts. A server without rules, or without keys, accepts none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::rpc {

// The facts of a token whose password a client has shown.
struct TokenUser {
  std::string user;
  std::uint32_t key_id = 0;
  std::int64_t expires_ms = 0;  // of the wall clock
  std::int64_t sequence = 0;    // its number
};

// Thread-safe; no function waits.
class TokenRules {
 public:
  virtual ~TokenRules() = default;
  // `identifier`: any bytes, of a client. An error is the text for the client.
  [[nodiscard]] virtual Result<std::string> PasswordOf(std::string_view identifier) const = 0;
  // `identifier`: one for which PasswordOf has returned a password.
  [[nodiscard]] virtual Result<TokenUser> UserOf(std::string_view identifier) const = 0;
  // False once the token has expired or was revoked, or its key was withdrawn: its connections end.
  [[nodiscard]] virtual bool Holds(const TokenUser& token) const = 0;
};

}  // namespace ratchet::rpc
