#include "common/identity/token.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/model/message_limits.h"
#include "common/model/proto/authentication.pb.h"
#include "common/rpc/digests.h"
#include "common/rpc/frame.h"

namespace ratchet::identity {
namespace {

namespace hpb = ::hbase::pb;

Error NotAToken(const char* why) {
  return Error(Code::kInvalidArgument, fmt::format("not a token's identifier: {}", why));
}

// Hadoop's WritableUtils.writeVLong, for values that are not negative: one byte up to 127, else a byte that shows the
// number of bytes, and these, the highest first.
void AddVariable(std::size_t value, std::string& to) {
  constexpr std::size_t kMostInOneByte = 127;
  if (value <= kMostInOneByte) {
    to += static_cast<char>(value);
    return;
  }
  constexpr int kLengthBase = -112;
  std::string bytes;
  for (; value != 0; value >>= 8U) bytes.insert(bytes.begin(), static_cast<char>(value & 0xFFU));
  to += static_cast<char>(kLengthBase - static_cast<int>(bytes.size()));
  to += bytes;
}

void AddBytes(std::string_view bytes, std::string& to) {
  AddVariable(bytes.size(), to);
  to += bytes;
}

}  // namespace

std::string EncodeTokenIdentifier(const TokenFacts& facts) {
  hpb::TokenIdentifier proto;
  proto.set_kind(hpb::TokenIdentifier::HBASE_AUTH_TOKEN);
  proto.set_username(facts.user);
  proto.set_key_id(static_cast<std::int32_t>(facts.key_id));
  proto.set_issue_date(facts.issued_ms);
  proto.set_expiration_date(facts.expires_ms);
  proto.set_sequence_number(facts.sequence);
  const std::string body = proto.SerializeAsString();
  std::string bytes;
  rpc::AppendBig32(static_cast<std::uint32_t>(body.size()), bytes);
  return bytes + body;
}

Result<TokenFacts> ReadTokenIdentifier(std::string_view bytes) {
  if (bytes.size() < 4 || bytes.size() > kMostTokenIdentifier) return NotAToken("its length");
  const std::uint32_t length = rpc::ReadBig32(bytes);
  bytes.remove_prefix(4);
  hpb::TokenIdentifier proto;
  if (length != bytes.size() || !ParseMessage(bytes, proto).ok() || !proto.IsInitialized())
    return NotAToken("it cannot be read");
  if (proto.username().empty() || proto.key_id() <= 0 || !proto.has_expiration_date())
    return NotAToken("it has no user, key or end");
  return TokenFacts{proto.username(), static_cast<std::uint32_t>(proto.key_id()), proto.issue_date(),
                    proto.expiration_date(), proto.sequence_number()};
}

std::string TokenPassword(const rights::TokenKey& key, std::string_view identifier) {
  return rpc::HmacSha256(key.secret, identifier);
}

// S152 (tokens are signed by known keys).
const rights::TokenKey* SigningKey(const rights::TokenKeys& keys, std::int64_t now_ms) {
  const rights::TokenKey* newest = nullptr;
  for (const rights::TokenKey& key : keys) {
    if ((key.told || RATCHET_MUTANT("identity.sign_by_any_key")) && now_ms < key.expires_ms) newest = &key;
  }
  return newest;
}

Result<IssuedToken> SignToken(const rights::TokenKeys& keys, TokenFacts facts) {
  const rights::TokenKey* key = SigningKey(keys, facts.issued_ms);
  if (facts.key_id != 0) {
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const rights::TokenKey& each) { return each.id == facts.key_id; });
    key = found != keys.end() && found->told ? &*found : nullptr;
  }
  if (key == nullptr) return Error(Code::kUnavailable, "the cluster has no key for tokens; try again later");
  facts.key_id = key->id;
  facts.expires_ms = std::min(facts.expires_ms, key->expires_ms);
  IssuedToken token;
  token.identifier = EncodeTokenIdentifier(facts);
  if (token.identifier.size() > kMostTokenIdentifier)
    return Error(Code::kInvalidArgument, "the name of the user is too long for a token");
  token.password = TokenPassword(*key, token.identifier);
  token.expires_ms = facts.expires_ms;
  return token;
}

std::string TokenFile(const IssuedToken& token, std::string_view service) {
  using namespace std::string_literals;
  std::string file = "HDTS\0"s;
  AddVariable(1, file);     // tokens
  AddBytes(service, file);  // alias
  AddBytes(token.identifier, file);
  AddBytes(token.password, file);
  AddBytes(kTokenKind, file);
  AddBytes(service, file);
  AddVariable(0, file);  // secrets
  return file;
}

}  // namespace ratchet::identity
