#include "common/rights/nonce_group.h"

#include <openssl/sha.h>

#include <array>
#include <string>

#include "common/base/mutant.h"

namespace ratchet::rights {

std::uint64_t NonceGroupOf(std::string_view user, std::uint64_t group) {
  std::string text;
  for (int shift = 0; shift < 64; shift += 8) text.push_back(static_cast<char>(group >> shift));
  text.append(RATCHET_MUTANT("rights.any_users_nonce") ? std::string_view() : user);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  std::uint64_t own = 0;
  for (int i = 0; i < 8; ++i) own = own << 8U | hash[static_cast<std::size_t>(i)];
  return own;
}

}  // namespace ratchet::rights
