#include "common/rpc/digests.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/hex.h"

namespace ratchet::rpc {
namespace {

constexpr char kDigestName[] = "SHA256";
constexpr std::size_t kMd5Bytes = 16;
constexpr std::size_t kMostBase64 = 16U << 10U;

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// The parameter's text is only read.
OSSL_PARAM DigestParameter(const char* name) {
  return OSSL_PARAM_construct_utf8_string(name, const_cast<char*>(kDigestName), 0);
}
OSSL_PARAM BytesParameter(const char* name, std::string_view bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(bytes.data()), bytes.size());
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::string out(kDigestBytes, '\0');
  std::size_t size = 0;
  const int done = EVP_Q_digest(nullptr, kDigestName, nullptr, bytes.data(), bytes.size(), Bytes(out), &size);
  RATCHET_CHECK(done == 1 && size == kDigestBytes, "OpenSSL computes no SHA-256");
  return out;
}

std::string Md5(std::string_view bytes) {
  std::string out(kMd5Bytes, '\0');
  std::size_t size = 0;
  const int done = EVP_Q_digest(nullptr, "MD5", nullptr, bytes.data(), bytes.size(), Bytes(out), &size);
  RATCHET_CHECK(done == 1 && size == kMd5Bytes, "OpenSSL computes no MD5");
  return out;
}

std::string HmacSha256(std::string_view key, std::string_view bytes) {
  std::string out(kDigestBytes, '\0');
  std::size_t size = 0;
  const auto* done = EVP_Q_mac(nullptr, "HMAC", nullptr, kDigestName, nullptr, key.data(), key.size(), Bytes(bytes),
                               bytes.size(), Bytes(out), out.size(), &size);
  RATCHET_CHECK(done != nullptr && size == kDigestBytes, "OpenSSL computes no HMAC");
  return out;
}

std::string DeriveKey(std::string_view secret, std::string_view purpose) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  RATCHET_CHECK(kdf != nullptr, "OpenSSL has no HKDF");
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  RATCHET_CHECK(context != nullptr, "OpenSSL makes no HKDF");
  const std::array parameters{DigestParameter(OSSL_KDF_PARAM_DIGEST), BytesParameter(OSSL_KDF_PARAM_KEY, secret),
                              BytesParameter(OSSL_KDF_PARAM_INFO, purpose), OSSL_PARAM_construct_end()};
  std::string out(kDigestBytes, '\0');
  const int done = EVP_KDF_derive(context.get(), Bytes(out), out.size(), parameters.data());
  RATCHET_CHECK(done == 1, "OpenSSL derives no key");
  return out;
}

std::string RandomBytes(std::size_t count) {
  std::string out(count, '\0');
  RATCHET_CHECK(RAND_bytes(Bytes(out), static_cast<int>(count)) == 1, "OpenSSL has no entropy");
  return out;
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string HexText(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::optional<std::string> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const int high = HexDigit(text[at]);
    const int low = HexDigit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(16 * high + low);
  }
  return bytes;
}

std::string ToBase64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the zero that OpenSSL writes
  const int size = EVP_EncodeBlock(Bytes(text), Bytes(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// OpenSSL decodes whole groups of four, with zeros for the padding, and tolerates white space around them.
std::optional<std::string> FromBase64(std::string_view text) {
  if (text.empty()) return std::string();
  if (text.size() > kMostBase64 || text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(Bytes(bytes), Bytes(text), static_cast<int>(text.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  if (ToBase64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace ratchet::rpc
