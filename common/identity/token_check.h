// TokenCheck: which tokens a process accepts, by the keys that it has at this moment. A process without keys accepts
// none.
#pragma once

#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/identity/token.h"
#include "common/rights/token_keys.h"
#include "common/rpc/token_rules.h"

namespace ratchet::identity {

// Clocks of two processes may differ by this much.
inline constexpr Millis kTokenClockSkew{30'000};

// Thread-safe.
class TokenCheck final : public rpc::TokenRules {
 public:
  // Both outlive the object.
  TokenCheck(const rights::TokenKeySource& keys, const Clock& clock) : keys_(keys), clock_(clock) {}

  [[nodiscard]] Result<std::string> PasswordOf(std::string_view identifier) const override;
  [[nodiscard]] Result<rpc::TokenUser> UserOf(std::string_view identifier) const override;
  [[nodiscard]] bool Holds(const rpc::TokenUser& token) const override;

 private:
  // The key of a token that is valid at this time.
  [[nodiscard]] Result<rights::TokenKey> KeyOf(const TokenFacts& token) const;

  const rights::TokenKeySource& keys_;
  const Clock& clock_;
};

}  // namespace ratchet::identity
