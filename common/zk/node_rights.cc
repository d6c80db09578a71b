#include "common/zk/node_rights.h"

#include <openssl/evp.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/rpc/digests.h"

namespace ratchet::zk {
namespace {

constexpr std::string_view kUser = "ratchet";
constexpr std::string_view kPurpose = "zookeeper";
constexpr std::array<std::pair<int, char>, 5> kLetters{{{4, 'c'}, {8, 'd'}, {1, 'r'}, {2, 'w'}, {16, 'a'}}};

std::string PasswordOf(const std::string& key) {
  const std::string mac = rpc::HmacSha256(key, kPurpose);
  const std::vector<unsigned char> bytes(mac.begin(), mac.end());
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// ZooKeeper's form of a user of the scheme digest: the name and the Base64 text of SHA-1("name:password").
std::string UserOf(const std::string& key) {
  const std::string credential = CredentialOf(key);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  std::size_t size = 0;
  const int done = EVP_Q_digest(nullptr, "SHA1", nullptr, credential.data(), credential.size(), digest.data(), &size);
  RATCHET_CHECK(done == 1, "OpenSSL computes no SHA-1");
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
  const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  return fmt::format("{}:{}", kUser,
                     std::string_view(reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(length)));
}

}  // namespace

NodeRights OpenRights() { return {{ZOO_ANYONE_ID_UNSAFE.scheme, ZOO_ANYONE_ID_UNSAFE.id, kEveryPermission}}; }

NodeRights RightsOfKeys(const std::vector<std::string>& keys) {
  if (keys.empty()) return OpenRights();
  NodeRights rights{{ZOO_ANYONE_ID_UNSAFE.scheme, ZOO_ANYONE_ID_UNSAFE.id, kRead}};
  for (const std::string& key : keys) rights.push_back({"digest", UserOf(key), kEveryPermission});
  std::ranges::sort(rights);
  return rights;
}

std::string CredentialOf(const std::string& key) { return fmt::format("{}:{}", kUser, PasswordOf(key)); }

bool IsOpen(const NodeRights& rights) {
  return std::ranges::any_of(rights, [](const NodeRight& right) { return right == OpenRights().front(); });
}

bool BelongsTo(const NodeRights& rights, const std::vector<std::string>& keys) {
  return std::ranges::any_of(keys, [&](const std::string& key) {
    return std::ranges::find(rights, NodeRight{"digest", UserOf(key), kEveryPermission}) != rights.end();
  });
}

std::string ToText(const NodeRights& rights) {
  std::string text;
  for (const NodeRight& right : rights) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}:{}:", right.scheme, right.id);
    for (const auto& [bit, letter] : kLetters)
      if ((right.permissions & bit) != 0) text += letter;
  }
  return text.empty() ? "none" : text;
}

}  // namespace ratchet::zk
