#include "common/rpc/digests.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <array>
#include <memory>

#include "common/base/check.h"

namespace ratchet::rpc {
namespace {

constexpr char kDigestName[] = "SHA256";

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

}  // namespace ratchet::rpc
