// TokenBook: the tokens that were issued and have not expired, as the records of the procedure store have them: the
// user of each, who asked for it, and whether it was revoked. Passwords are not recorded. A part of RightsBook, whose
// mutex protects it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/rights.pb.h"
#include "common/rights/token_keys.h"

namespace ratchet::master {

// "tokens/<number>": a ratchet::pb::TokenRecord.
inline constexpr std::string_view kTokenRecordPrefix = "tokens/";

struct IssuedToken {
  std::int64_t sequence = 0;  // its number, which no other token of the cluster has
  std::string user;
  std::uint32_t key_id = 0;
  std::int64_t issued_ms = 0;  // of the wall clock, like the next one
  std::int64_t expires_ms = 0;
  std::string asked_by;
  std::string peer;
  bool revoked = false;
  bool operator==(const IssuedToken&) const = default;
};
[[nodiscard]] std::string TokenRecordKey(std::int64_t sequence);
[[nodiscard]] std::string TokenRecord(const IssuedToken& token);
// kInvalidArgument: not a token.
[[nodiscard]] Result<IssuedToken> ReadTokenRecord(std::string_view record);

class TokenBook {
 public:
  static constexpr std::size_t kMost = 100'000;
  static constexpr std::size_t kShareOfUser = 2;          // one part of this number
  static constexpr std::size_t kMostExpiredAtOnce = 100;  // records that are deleted with one new token

  // Applies the record with this key; nullopt: it was deleted. A record that cannot be read counts as that of a revoked
  // token, of any user, because absence would accept it. Returns true if the revoked tokens changed.
  bool Show(const std::string& key, const std::optional<std::string>& record);
  // An error if another token would pass the bounds, or the share of its user.
  [[nodiscard]] Status RoomFor(const std::string& user) const;
  // Some tokens that have expired, the oldest ones.
  [[nodiscard]] std::vector<std::int64_t> Expired(std::int64_t now_ms) const;
  // In the order of their numbers.
  [[nodiscard]] std::vector<IssuedToken> List() const;
  // For an image.
  [[nodiscard]] const rights::RevokedTokens& Revoked() const { return revoked_; }

 private:
  void Remove(std::int64_t sequence);

  std::map<std::int64_t, IssuedToken> tokens_;
  std::map<std::string, std::size_t, std::less<>> of_users_;
  rights::RevokedTokens revoked_;
};

}  // namespace ratchet::master
