#include "tests/unit/tls/raw_peer.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "common/base/check.h"

namespace ratchet::tls {
namespace {

constexpr std::size_t kPiece = 256;
constexpr int kMostTurns = 12;
constexpr std::size_t kTagBytes = 16;

using Bio = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  RATCHET_CHECK(made != nullptr && X509_add_ext(certificate, made, -1) == 1, "no extension {}", value);
  X509_EXTENSION_free(made);
}

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// HKDF-Expand-Label of RFC 8446 with an empty context.
std::string ExpandLabel(std::string secret, const std::string& label, std::size_t size) {
  const std::string whole = "tls13 " + label;
  std::string info{'\0', static_cast<char>(size), static_cast<char>(whole.size())};
  info += whole + '\0';
  std::string digest = "SHA256";
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  const std::array<OSSL_PARAM, 5> parameters{
      OSSL_PARAM_construct_utf8_string("digest", digest.data(), digest.size()), OSSL_PARAM_construct_int("mode", &mode),
      OSSL_PARAM_construct_octet_string("key", secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string("info", info.data(), info.size()), OSSL_PARAM_construct_end()};
  EVP_KDF* const kind = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  EVP_KDF_CTX* const context = EVP_KDF_CTX_new(kind);
  std::string out(size, '\0');
  RATCHET_CHECK(EVP_KDF_derive(context, Bytes(out), size, parameters.data()) == 1, "HKDF derives nothing");
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kind);
  return out;
}

// PRF of RFC 5246 with SHA-256.
std::string Prf12(std::string secret, std::string seed, std::size_t size) {
  std::string digest = "SHA256";
  const std::array<OSSL_PARAM, 4> parameters{OSSL_PARAM_construct_utf8_string("digest", digest.data(), digest.size()),
                                             OSSL_PARAM_construct_octet_string("secret", secret.data(), secret.size()),
                                             OSSL_PARAM_construct_octet_string("seed", seed.data(), seed.size()),
                                             OSSL_PARAM_construct_end()};
  EVP_KDF* const kind = EVP_KDF_fetch(nullptr, "TLS1-PRF", nullptr);
  EVP_KDF_CTX* const context = EVP_KDF_CTX_new(kind);
  std::string out(size, '\0');
  RATCHET_CHECK(EVP_KDF_derive(context, Bytes(out), size, parameters.data()) == 1, "the PRF derives nothing");
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kind);
  return out;
}

// AES-128-GCM: the sealed bytes and their tag.
std::string SealGcm(std::string key, std::string nonce, std::string covered, std::string plain) {
  std::string sealed(plain.size(), '\0');
  std::string tag(kTagBytes, '\0');
  int count = 0;
  EVP_CIPHER_CTX* const cipher = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), nullptr, Bytes(key), Bytes(nonce));
  EVP_EncryptUpdate(cipher, nullptr, &count, Bytes(covered), static_cast<int>(covered.size()));
  EVP_EncryptUpdate(cipher, Bytes(sealed), &count, Bytes(plain), static_cast<int>(plain.size()));
  EVP_EncryptFinal_ex(cipher, Bytes(sealed) + count, &count);
  EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, kTagBytes, Bytes(tag));
  EVP_CIPHER_CTX_free(cipher);
  return sealed + tag;
}

std::string Big(std::uint64_t number, std::size_t bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(number >> (8 * bytes) & 0xff);
  return text;
}

}  // namespace

Identity Identity::FromPem(const std::string& key, const std::string& certificate) {
  const Bio key_bio(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())), BIO_free_all);
  const Bio bio(BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())), BIO_free_all);
  return {std::shared_ptr<EVP_PKEY>(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free),
          std::shared_ptr<X509>(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free)};
}

std::string Identity::KeyPem() const {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio.get());
}

std::string Identity::CertificatePem() const {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free_all);
  PEM_write_bio_X509(bio.get(), certificate.get());
  return TextOf(bio.get());
}

Identity Make(const Handmade& wanted, const Identity* issuer) {
  static std::atomic<long> serial{1'000};
  EVP_PKEY* const key = wanted.rsa_bits == 0 ? EVP_EC_gen("P-256") : EVP_RSA_gen(wanted.rsa_bits);
  Identity made{std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free), std::shared_ptr<X509>(X509_new(), X509_free)};
  X509* const raw = made.certificate.get();
  X509* const above = issuer == nullptr ? raw : issuer->certificate.get();
  X509_set_version(raw, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(raw), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(raw), std::chrono::seconds(wanted.from).count());
  X509_gmtime_adj(X509_getm_notAfter(raw), std::chrono::seconds(wanted.until).count());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_UTF8, Bytes(wanted.common_name),
                             static_cast<int>(wanted.common_name.size()), -1, 0);
  X509_set_issuer_name(raw, X509_get_subject_name(above));
  RATCHET_CHECK(X509_set_pubkey(raw, key) == 1, "no key");
  const bool authority = wanted.usages.empty();
  AddExtension(raw, above, NID_basic_constraints, authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  AddExtension(raw, above, NID_subject_key_identifier, "hash");
  if (authority) {
    AddExtension(raw, above, NID_key_usage, "critical,keyCertSign,cRLSign");
  } else {
    AddExtension(raw, above, NID_key_usage, "critical,digitalSignature,keyEncipherment");
    AddExtension(raw, above, NID_ext_key_usage, wanted.usages);
    if (!wanted.names.empty()) AddExtension(raw, above, NID_subject_alt_name, wanted.names);
  }
  EVP_PKEY* const signer = issuer == nullptr ? key : issuer->key.get();
  RATCHET_CHECK(X509_sign(raw, signer, wanted.sha1 ? EVP_sha1() : EVP_sha256()) > 0, "no signature");
  return made;
}

RawPeer::RawPeer(Side side, const Shown* shown, const std::function<void(SSL_CTX*)>& prepare)
    : context_(SSL_CTX_new(side == Side::kClient ? TLS_client_method() : TLS_server_method()), SSL_CTX_free) {
  SSL_CTX* const raw = context_.get();
  SSL_CTX_set_security_level(raw, 0);
  SSL_CTX_set_mode(raw, SSL_MODE_NO_AUTO_CHAIN);
  if (shown != nullptr) {
    RATCHET_CHECK(SSL_CTX_use_certificate(raw, shown->own.certificate.get()) == 1, "no certificate");
    RATCHET_CHECK(SSL_CTX_use_PrivateKey(raw, shown->own.key.get()) == 1, "no key");
    for (const auto& one : shown->others) SSL_CTX_add1_chain_cert(raw, one.get());
  }
  if (prepare) prepare(raw);
  ssl_.reset(SSL_new(raw));
  SSL_set_bio(ssl(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  if (side == Side::kClient)
    SSL_set_connect_state(ssl());
  else
    SSL_set_accept_state(ssl());
}

std::string RawPeer::Take() {
  std::string taken = TextOf(SSL_get_wbio(ssl()));
  static_cast<void>(BIO_reset(SSL_get_wbio(ssl())));
  return taken;
}

void RawPeer::Give(std::string_view bytes) {
  BIO_write(SSL_get_rbio(ssl()), bytes.data(), static_cast<int>(bytes.size()));
}

std::string RawPeer::Read() {
  std::string plain;
  std::array<char, 4'096> bytes{};
  for (int got = 0; (got = SSL_read(ssl(), bytes.data(), static_cast<int>(bytes.size()))) > 0;)
    plain.append(bytes.data(), static_cast<std::size_t>(got));
  return plain;
}

Status RawPeer::Handshake(TlsSession& session, std::size_t* taken) {
  std::string plain;
  if (SSL_is_server(ssl()) == 1) RATCHET_TRY(session.Begin());
  for (int turn = 0; turn < kMostTurns; ++turn) {
    std::string bytes;
    RATCHET_TRY(session.Seal({}, bytes));
    Give(bytes);
    const bool done = SSL_do_handshake(ssl()) == 1;
    bytes = Take();
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      const std::string_view piece = std::string_view(bytes).substr(at, kPiece);
      if (taken != nullptr) *taken += piece.size();
      RATCHET_TRY(session.Feed(piece, plain));
    }
    if (done && session.established()) return Ok();
  }
  return Error(Code::kUnavailable, "no handshake");
}

RecordSealer::RecordSealer(const std::string& line) {
  const std::string hex = line.substr(line.rfind(' ') + 1);
  std::string secret;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    secret += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  key_ = ExpandLabel(secret, "key", 16);
  iv_ = ExpandLabel(secret, "iv", 12);
}

std::string RecordSealer::Seal(std::string_view plain) {
  const std::string inner = std::string(plain) + '\x17';
  const std::string head = "\x17\x03\x03" + Big(inner.size() + kTagBytes, 2);
  std::string nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) nonce[11 - i] = static_cast<char>(nonce[11 - i] ^ ((next_ >> (8 * i)) & 0xff));
  ++next_;
  return head + SealGcm(key_, nonce, head, inner);
}

RecordSealer12::RecordSealer12(SSL* ssl) {
  constexpr std::size_t kKey = 16;
  constexpr std::size_t kIv = 4;
  std::string client(SSL3_RANDOM_SIZE, '\0');
  std::string server(SSL3_RANDOM_SIZE, '\0');
  std::string master(SSL_MAX_MASTER_KEY_LENGTH, '\0');
  SSL_get_client_random(ssl, Bytes(client), client.size());
  SSL_get_server_random(ssl, Bytes(server), server.size());
  master.resize(SSL_SESSION_get_master_key(SSL_get0_session(ssl), Bytes(master), master.size()));
  const std::string block = Prf12(master, "key expansion" + server + client, 2 * kKey + 2 * kIv);
  const std::size_t side = SSL_is_server(ssl) == 1 ? 1 : 0;
  key_ = block.substr(side * kKey, kKey);
  iv_ = block.substr(2 * kKey + side * kIv, kIv);
}

std::string RecordSealer12::Seal(int type, std::string_view plain) {
  const std::string number = Big(next_++, 8);
  const std::string kind = static_cast<char>(type) + std::string("\x03\x03");
  return kind + Big(number.size() + plain.size() + kTagBytes, 2) + number +
         SealGcm(key_, iv_ + number, number + kind + Big(plain.size(), 2), std::string(plain));
}

}  // namespace ratchet::tls
