#include "common/rights/token_keys.h"

namespace ratchet::rights {

pb::TokenKey ToProto(const TokenKey& key) {
  pb::TokenKey proto;
  proto.set_id(key.id);
  proto.set_secret(key.secret);
  proto.set_made_ms(key.made_ms);
  proto.set_expires_ms(key.expires_ms);
  if (key.told) proto.set_told(true);
  return proto;
}

Result<TokenKey> TokenKeyFromProto(const pb::TokenKey& proto) {
  TokenKey key{proto.id(), proto.secret(), proto.made_ms(), proto.expires_ms(), proto.told()};
  if (key.id == 0 || key.secret.size() != kTokenKeyBytes || key.expires_ms < key.made_ms)
    return Error(Code::kInvalidArgument, "the bytes are not a key of tokens");
  return key;
}

}  // namespace ratchet::rights
