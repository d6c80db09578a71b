// The keys by which tokens are signed. The master makes and records them; every process that checks tokens has them
// from the image of rights (S127: images only rise), so a withdrawn key does not return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/rights.pb.h"

namespace ratchet::rights {

inline constexpr std::size_t kTokenKeyBytes = 32;
inline constexpr std::size_t kMostTokenKeys = 64;

struct TokenKey {
  std::uint32_t id = 0;
  std::string secret;
  std::int64_t made_ms = 0;
  std::int64_t expires_ms = 0;
  bool told = false;  // every region server has it
  bool operator==(const TokenKey&) const = default;
};
using TokenKeys = std::vector<TokenKey>;  // in the order of their ids

// Tokens that no process accepts, although their keys are valid: by their numbers, with their users. An empty user
// means each user.
using RevokedTokens = std::map<std::int64_t, std::string>;
inline constexpr std::size_t kMostRevokedTokens = 10'000;

[[nodiscard]] pb::TokenKey ToProto(const TokenKey& key);
// kInvalidArgument: a key without an id, with a secret of another length, or whose end is before its beginning.
[[nodiscard]] Result<TokenKey> TokenKeyFromProto(const pb::TokenKey& proto);

// Where a process finds the keys. Thread-safe; does not wait.
class TokenKeySource {
 public:
  virtual ~TokenKeySource() = default;
  // Null: not known yet.
  [[nodiscard]] virtual std::shared_ptr<const TokenKeys> token_keys() const = 0;
  // As new as the keys or newer, if it is asked for after them. Null: not known yet.
  [[nodiscard]] virtual std::shared_ptr<const RevokedTokens> revoked_tokens() const = 0;
};

}  // namespace ratchet::rights
