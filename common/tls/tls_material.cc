#include "common/tls/tls_material.h"

#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "common/base/small_file.h"

namespace ratchet::tls {
namespace {

using Pkcs12Ptr = std::unique_ptr<PKCS12, Freer<PKCS12_free>>;
using Certificates = std::vector<CertificatePtr>;

Error FileError(const std::string& path, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("{}: {}", path, why)};
}

Result<std::string> ReadFilled(const std::string& path, FileGuard guard) {
  RATCHET_ASSIGN(std::string bytes, ReadSmallFile(path, kMostFileBytes, guard));
  if (bytes.empty()) return FileError(path, "empty");
  return bytes;
}

Result<std::string> ReadPassword(const std::string& path) {
  if (path.empty()) return std::string();
  RATCHET_ASSIGN(std::string text, ReadFilled(path, SecretFile()));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// Java's own formats cannot be read; the JDK's tool converts them.
Status RefuseJavaFormats(const std::string& path, std::string_view bytes) {
  const bool jks = bytes.starts_with("\xfe\xed\xfe\xed") || path.ends_with(".jks");
  const bool jceks = bytes.starts_with("\xce\xce\xce\xce");
  const bool bcfks = path.ends_with(".bcfks");
  if (!jks && !jceks && !bcfks) return Ok();
  return FileError(path, fmt::format("{} is not supported; convert it: keytool -importkeystore -srckeystore {} "
                                     "-destkeystore {}.p12 -deststoretype PKCS12",
                                     bcfks ? "BCFKS" : "JKS", path, path));
}

// OpenSSL must never ask on a terminal.
int GivePassword(char* buffer, int size, int /*writing*/, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (text.size() > static_cast<std::size_t>(size)) return -1;
  std::memcpy(buffer, text.data(), text.size());
  return static_cast<int>(text.size());
}

Result<Certificates> PemCertificates(const std::string& path, std::string_view bytes) {
  Certificates found;
  const BioPtr bio = BioOf(bytes);
  for (;;) {
    CertificatePtr one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) break;
    found.push_back(std::move(one));
  }
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (ERR_GET_LIB(code) != ERR_LIB_PEM || ERR_GET_REASON(code) != PEM_R_NO_START_LINE)
    return FileError(path, "a certificate in it cannot be read; the file is damaged or not complete");
  if (found.empty()) return FileError(path, "no certificate in it");
  return found;
}

bool IsPem(std::string_view bytes) { return bytes.find("-----BEGIN ") != std::string_view::npos; }

struct Pkcs12Content {
  KeyPtr key;
  Certificates chain;
};

Result<Pkcs12Content> ReadPkcs12(const std::string& path, std::string_view bytes, const std::string& password) {
  const BioPtr bio = BioOf(bytes);
  const Pkcs12Ptr file(d2i_PKCS12_bio(bio.get(), nullptr));
  if (file == nullptr) {
    ERR_clear_error();
    return FileError(path, "neither PEM nor PKCS#12");
  }
  EVP_PKEY* key = nullptr;
  X509* leaf = nullptr;
  STACK_OF(X509)* others = nullptr;
  if (PKCS12_parse(file.get(), password.c_str(), &key, &leaf, &others) != 1)
    return FileError(path, fmt::format("cannot read PKCS#12: {}; check the password", TakeOpenSslError()));
  Pkcs12Content content;
  content.key.reset(key);
  if (leaf != nullptr) content.chain.emplace_back(leaf);
  for (int i = 0; others != nullptr && i < sk_X509_num(others); ++i)
    content.chain.emplace_back(sk_X509_value(others, i));
  sk_X509_free(others);
  return content;
}

Status ReadOwn(const TlsFiles& files, TlsMaterial::Parts& parts) {
  const std::string& path = files.certificate;
  RATCHET_ASSIGN(std::string bytes, ReadFilled(path, SecretFile()));
  RATCHET_TRY(RefuseJavaFormats(path, bytes));
  RATCHET_ASSIGN(std::string password, ReadPassword(files.password));
  if (IsPem(bytes)) {
    RATCHET_ASSIGN(parts.chain, PemCertificates(path, bytes));
    const BioPtr bio = BioOf(bytes);
    parts.key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, GivePassword, &password));
    if (parts.key == nullptr) return FileError(path, fmt::format("cannot read the key: {}", TakeOpenSslError()));
  } else {
    RATCHET_ASSIGN(Pkcs12Content content, ReadPkcs12(path, bytes, password));
    parts.key = std::move(content.key);
    parts.chain = std::move(content.chain);
    if (parts.key == nullptr || parts.chain.empty()) return FileError(path, "no key with a certificate in it");
  }
  if (parts.chain.size() > kMostChain)
    return FileError(path, fmt::format("{} certificates; at most {}", parts.chain.size(), kMostChain));
  if (X509_check_private_key(parts.chain.front().get(), parts.key.get()) != 1) {
    ERR_clear_error();
    return FileError(path, "the key does not belong to the first certificate; the key's certificate must be first");
  }
  return Ok();
}

Status ReadTrust(const TlsFiles& files, TlsMaterial::Parts& parts) {
  const std::string& path = files.trust;
  RATCHET_ASSIGN(std::string bytes, ReadFilled(path, {}));
  RATCHET_TRY(RefuseJavaFormats(path, bytes));
  if (IsPem(bytes)) {
    RATCHET_ASSIGN(parts.trusted, PemCertificates(path, bytes));
    return Ok();
  }
  RATCHET_ASSIGN(const std::string password, ReadPassword(files.trust_password));
  RATCHET_ASSIGN(Pkcs12Content content, ReadPkcs12(path, bytes, password));
  parts.trusted = std::move(content.chain);
  return parts.trusted.empty() ? Status(FileError(path, "no certificate in it")) : Ok();
}

// A list that one of the trusted authorities would have to have signed is checked; a list of another issuer, such as an
// authority below a trusted one, is checked when a certificate of that issuer is shown.
Status CheckRevocationList(const TlsFiles& files, const TlsMaterial::Parts& parts, X509_CRL* list) {
  bool named = false;
  for (const CertificatePtr& root : parts.trusted) {
    if (X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_subject_name(root.get())) != 0) continue;
    named = true;
    if (X509_CRL_verify(list, X509_get0_pubkey(root.get())) == 1) return Ok();
  }
  ERR_clear_error();
  if (!named) return Ok();
  return FileError(files.revoked,
                   fmt::format("a list in it is not signed by the authority in {} that it names", files.trust));
}

Status ReadRevoked(const TlsFiles& files, TlsMaterial::Parts& parts) {
  const std::string& path = files.revoked;
  RATCHET_ASSIGN(std::string bytes, ReadFilled(path, {}));
  const BioPtr bio = BioOf(bytes);
  for (;;) {
    RevocationListPtr one(PEM_read_bio_X509_CRL(bio.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) break;
    parts.revoked.push_back(std::move(one));
  }
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (ERR_GET_LIB(code) != ERR_LIB_PEM || ERR_GET_REASON(code) != PEM_R_NO_START_LINE)
    return FileError(path, "a list of revoked certificates in it cannot be read; the file is damaged or not complete");
  if (parts.revoked.empty()) return FileError(path, "no list of revoked certificates in it (-----BEGIN X509 CRL-----)");
  if (parts.revoked.size() > kMostRevocationLists)
    return FileError(path, fmt::format("{} lists; at most {}", parts.revoked.size(), kMostRevocationLists));
  for (const RevocationListPtr& list : parts.revoked) RATCHET_TRY(CheckRevocationList(files, parts, list.get()));
  return Ok();
}

Status VerifyFor(const TlsFiles& files, const TlsMaterial::Parts& parts, int purpose, std::string_view side) {
  const StorePtr store(X509_STORE_new());
  for (const CertificatePtr& root : parts.trusted) X509_STORE_add_cert(store.get(), root.get());
  STACK_OF(X509)* const others = sk_X509_new_null();
  for (const CertificatePtr& one : parts.chain) sk_X509_push(others, one.get());
  const StoreContextPtr context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), parts.chain.front().get(), others);
  X509_STORE_CTX_set_purpose(context.get(), purpose);
  X509_VERIFY_PARAM_set_depth(X509_STORE_CTX_get0_param(context.get()), kMostDepth);
  const bool valid = X509_verify_cert(context.get()) == 1;
  const int code = X509_STORE_CTX_get_error(context.get());
  sk_X509_free(others);
  ERR_clear_error();
  if (valid) return Ok();
  return FileError(files.certificate,
                   fmt::format("its certificate is not valid as a {}'s with the authorities in {}: {}", side,
                               files.trust, X509_verify_cert_error_string(code)));
}

std::string Describe(const TlsMaterial::Parts& parts) {
  if (parts.chain.empty()) return "no certificate";
  X509* const leaf = parts.chain.front().get();
  std::array<char, 256> subject{};
  X509_NAME_oneline(X509_get_subject_name(leaf), subject.data(), subject.size());
  tm until{};
  ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &until);
  BIGNUM* const number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(leaf), nullptr);
  char* const serial = number == nullptr ? nullptr : BN_bn2hex(number);
  std::string text =
      fmt::format("{}, serial {}, valid until {:04}-{:02}-{:02}", subject.data(),
                  serial == nullptr ? "unknown" : serial, until.tm_year + 1900, until.tm_mon + 1, until.tm_mday);
  OPENSSL_free(serial);
  BN_free(number);
  return text;
}

}  // namespace

TlsMaterial::TlsMaterial(std::unique_ptr<Parts> parts) : parts_(std::move(parts)), description_(Describe(*parts_)) {}
TlsMaterial::~TlsMaterial() = default;

std::string TlsMaterial::OverdueList() const {
  for (const RevocationListPtr& list : parts_->revoked) {
    const ASN1_TIME* const next = X509_CRL_get0_nextUpdate(list.get());
    if (next == nullptr || X509_cmp_current_time(next) > 0) continue;
    std::array<char, 256> issuer{};
    X509_NAME_oneline(X509_CRL_get_issuer(list.get()), issuer.data(), issuer.size());
    return fmt::format(
        "TLS: the list of revoked certificates of {} is out of date; it stays in force until "
        "--tls-revoked has a newer one",
        issuer.data());
  }
  return {};
}

bool TlsMaterial::has_certificate() const { return parts_->key != nullptr; }

Result<std::shared_ptr<const TlsMaterial>> TlsMaterial::Read(const TlsFiles& files, Use use) {
  ERR_clear_error();
  auto parts = std::make_unique<Parts>();
  if (files.trust.empty())
    return Error(Code::kInvalidArgument, "no file of trusted authorities is named (--tls-trust)");
  RATCHET_TRY(ReadTrust(files, *parts));
  if (use == Use::kMember && files.certificate.empty())
    return Error(Code::kInvalidArgument, "no file with a certificate and its key is named (--tls-certificate)");
  if (!files.revoked.empty()) RATCHET_TRY(ReadRevoked(files, *parts));
  if (!files.certificate.empty()) {
    RATCHET_TRY(ReadOwn(files, *parts));
    RATCHET_TRY(VerifyFor(files, *parts, X509_PURPOSE_SSL_CLIENT, "client"));
    if (use == Use::kMember) RATCHET_TRY(VerifyFor(files, *parts, X509_PURPOSE_SSL_SERVER, "server"));
  }
  return std::shared_ptr<const TlsMaterial>(std::make_shared<TlsMaterial>(std::move(parts)));
}

}  // namespace ratchet::tls
