#include "master/cluster/token_book.h"

#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/rights/rights_entry.h"

namespace ratchet::master {

std::string TokenRecordKey(std::int64_t sequence) { return fmt::format("{}{:020}", kTokenRecordPrefix, sequence); }

std::string TokenRecord(const IssuedToken& token) {
  ratchet::pb::TokenRecord proto;
  proto.set_sequence(token.sequence);
  proto.set_user(token.user);
  proto.set_key_id(token.key_id);
  proto.set_issued_ms(token.issued_ms);
  proto.set_expires_ms(token.expires_ms);
  if (!token.asked_by.empty()) proto.set_asked_by(token.asked_by);
  if (!token.peer.empty()) proto.set_peer(token.peer);
  if (token.revoked) proto.set_revoked(true);
  return proto.SerializeAsString();
}

Result<IssuedToken> ReadTokenRecord(std::string_view record) {
  ratchet::pb::TokenRecord proto;
  if (!proto.ParseFromArray(record.data(), static_cast<int>(record.size())) || proto.key_id() == 0 ||
      !rights::CheckGrantee(proto.user()).ok() || proto.expires_ms() < proto.issued_ms())
    return Error(Code::kInvalidArgument, "the bytes are not a token");
  return IssuedToken{proto.sequence(),   proto.user(),     proto.key_id(), proto.issued_ms(),
                     proto.expires_ms(), proto.asked_by(), proto.peer(),   proto.revoked()};
}

void TokenBook::Remove(std::int64_t sequence) {
  const auto found = tokens_.find(sequence);
  if (found == tokens_.end()) return;
  const auto user = of_users_.find(found->second.user);
  if (user != of_users_.end() && --user->second == 0) of_users_.erase(user);
  tokens_.erase(found);
}

bool TokenBook::Show(const std::string& key, const std::optional<std::string>& record) {
  std::int64_t sequence = 0;
  const char* const end = key.data() + key.size();
  const auto [last, wrong] = std::from_chars(key.data() + kTokenRecordPrefix.size(), end, sequence);
  if (wrong != std::errc() || last != end || sequence <= 0) {
    RATCHET_LOG(kError, "system record {} is skipped: its name is not a number", key);
    return false;
  }
  Remove(sequence);
  bool changed = revoked_.erase(sequence) > 0;
  if (!record.has_value()) return changed;
  auto token = ReadTokenRecord(*record);
  if (!token.ok() || token->sequence != sequence) {
    RATCHET_LOG(kError, "system record {} cannot be read, so no token with this number is accepted", key);
    revoked_[sequence] = "";
    return true;
  }
  if (token->revoked) {
    revoked_[sequence] = token->user;
    changed = true;
  }
  ++of_users_[token->user];
  tokens_.emplace(sequence, *std::move(token));
  return changed;
}

Status TokenBook::RoomFor(const std::string& user) const {
  const auto found = of_users_.find(user);
  const std::size_t own = found == of_users_.end() ? 0 : found->second;
  if (tokens_.size() < kMost && own < kMost / kShareOfUser) return Ok();
  return Error(
      Code::kFailedPrecondition,
      fmt::format("{} tokens have not expired, {} of them of user {}: at most {} and {}; use the current ones, "
                  "or shorten --token-lifetime-ms",
                  tokens_.size(), own, user, kMost, kMost / kShareOfUser));
}

// Later numbers expire later, unless the setting of the lifetime has changed.
std::vector<std::int64_t> TokenBook::Expired(std::int64_t now_ms) const {
  std::vector<std::int64_t> expired;
  std::size_t seen = 0;
  for (const auto& [sequence, token] : tokens_) {
    if (++seen > kMostExpiredAtOnce) break;
    if (token.expires_ms < now_ms) expired.push_back(sequence);
  }
  return expired;
}

std::vector<IssuedToken> TokenBook::List() const {
  std::vector<IssuedToken> all;
  all.reserve(tokens_.size());
  for (const auto& [sequence, token] : tokens_) all.push_back(token);
  return all;
}

}  // namespace ratchet::master
