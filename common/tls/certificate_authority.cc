#include "common/tls/certificate_authority.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>

#include <fmt/core.h>

#include "common/base/host_port.h"
#include "common/tls/openssl_types.h"

namespace ratchet::tls {
namespace {

using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
constexpr std::chrono::hours kDay{24};
constexpr std::size_t kSerialBytes = 16;
constexpr std::size_t kMostNameBytes = 64;  // of a common name

Error Failed(const std::string& what) {
  return {Code::kInvalidArgument, fmt::format("cannot make a certificate: {}: {}", what, TakeOpenSslError())};
}

Status AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1) return Failed(value);
  return Ok();
}

// A host may not have characters that OpenSSL's syntax of extensions gives a meaning.
Result<std::string> AlternativeNames(const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts) {
    if (host.empty() || host.find_first_of(",;= \t\r\n\"\\") != std::string::npos)
      return Error(Code::kInvalidArgument, fmt::format("'{}' is not a host name or an address", host));
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", IsNumericHost(host) ? "IP" : "DNS", host);
  }
  return text;
}

// Fills everything but the extensions.
Result<CertificatePtr> Begin(const std::string& common_name, EVP_PKEY* key, X509* issuer, std::chrono::seconds age,
                             std::chrono::seconds lifetime) {
  if (common_name.empty() || common_name.size() > kMostNameBytes)
    return Error(Code::kInvalidArgument, fmt::format("a common name has 1 to {} bytes", kMostNameBytes));
  CertificatePtr certificate(X509_new());
  X509* const raw = certificate.get();
  std::array<unsigned char, kSerialBytes> serial{};
  if (raw == nullptr || RAND_bytes(serial.data(), serial.size()) != 1) return Failed("random bytes");
  serial[0] &= 0x7f;  // positive
  BIGNUM* const number = BN_bin2bn(serial.data(), serial.size(), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(raw));
  BN_free(number);
  X509_set_version(raw, X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(raw), -age.count());
  X509_gmtime_adj(X509_getm_notAfter(raw), (lifetime - age).count());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.data()),
                             static_cast<int>(common_name.size()), -1, 0);
  X509_set_issuer_name(raw, X509_get_subject_name(issuer == nullptr ? raw : issuer));
  if (X509_set_pubkey(raw, key) != 1) return Failed(common_name);
  return certificate;
}

std::string TextOf(const BioPtr& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string PemOf(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return TextOf(bio);
}

std::string PemOf(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio);
}

}  // namespace

struct CertificateAuthority::Impl {
  KeyPtr key;
  CertificatePtr certificate;
  std::vector<CertificatePtr> between;  // this authority and those above it, without the root; empty for a root

  [[nodiscard]] Result<std::pair<KeyPtr, CertificatePtr>> Sign(const CertificateRequest& request) const;
};

CertificateAuthority::CertificateAuthority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CertificateAuthority::~CertificateAuthority() = default;

namespace {

Status FinishAuthority(X509* certificate, X509* issuer, EVP_PKEY* signer) {
  RATCHET_TRY(AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE"));
  RATCHET_TRY(AddExtension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign"));
  RATCHET_TRY(AddExtension(certificate, issuer, NID_subject_key_identifier, "hash"));
  RATCHET_TRY(AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always"));
  return X509_sign(certificate, signer, EVP_sha256()) > 0 ? Ok() : Status(Failed("signature"));
}

}  // namespace

Result<std::unique_ptr<CertificateAuthority>> CertificateAuthority::Make(const std::string& common_name, int days,
                                                                         std::chrono::seconds age) {
  auto impl = std::make_unique<Impl>();
  impl->key.reset(EVP_EC_gen("P-256"));
  if (impl->key == nullptr) return Failed("a key");
  RATCHET_ASSIGN(impl->certificate, Begin(common_name, impl->key.get(), nullptr, age, kDay * days));
  RATCHET_TRY(FinishAuthority(impl->certificate.get(), impl->certificate.get(), impl->key.get()));
  return std::unique_ptr<CertificateAuthority>(new CertificateAuthority(std::move(impl)));
}

Result<std::unique_ptr<CertificateAuthority>> CertificateAuthority::MakeBelow(const std::string& common_name,
                                                                              int days) const {
  auto impl = std::make_unique<Impl>();
  impl->key.reset(EVP_EC_gen("P-256"));
  if (impl->key == nullptr) return Failed("a key");
  X509* const above = impl_->certificate.get();
  RATCHET_ASSIGN(impl->certificate, Begin(common_name, impl->key.get(), above, {}, kDay * days));
  RATCHET_TRY(FinishAuthority(impl->certificate.get(), above, impl_->key.get()));
  impl->between.emplace_back(X509_dup(impl->certificate.get()));
  for (const CertificatePtr& one : impl_->between) impl->between.emplace_back(X509_dup(one.get()));
  return std::unique_ptr<CertificateAuthority>(new CertificateAuthority(std::move(impl)));
}

Result<std::pair<KeyPtr, CertificatePtr>> CertificateAuthority::Impl::Sign(const CertificateRequest& request) const {
  KeyPtr own(EVP_EC_gen("P-256"));
  if (own == nullptr) return Failed("a key");
  X509* const issuer = certificate.get();
  RATCHET_ASSIGN(std::string names, AlternativeNames(request.hosts));
  for (const std::string& uri : request.uris) names += fmt::format("{}URI:{}", names.empty() ? "" : ",", uri);
  RATCHET_ASSIGN(CertificatePtr made, Begin(request.common_name, own.get(), issuer, request.age, request.lifetime));
  for (const std::string& name : request.more_common_names) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.data()), static_cast<int>(name.size()), -1,
                               0);
  }
  std::string usages = request.for_server ? "serverAuth" : "";
  if (request.for_client) usages += usages.empty() ? "clientAuth" : ",clientAuth";
  RATCHET_TRY(AddExtension(made.get(), issuer, NID_basic_constraints, "critical,CA:FALSE"));
  RATCHET_TRY(AddExtension(made.get(), issuer, NID_key_usage, "critical,digitalSignature"));
  if (!usages.empty()) RATCHET_TRY(AddExtension(made.get(), issuer, NID_ext_key_usage, usages));
  if (!names.empty()) RATCHET_TRY(AddExtension(made.get(), issuer, NID_subject_alt_name, names));
  RATCHET_TRY(AddExtension(made.get(), issuer, NID_subject_key_identifier, "hash"));
  RATCHET_TRY(AddExtension(made.get(), issuer, NID_authority_key_identifier, "keyid:always"));
  if (X509_sign(made.get(), key.get(), EVP_sha256()) <= 0) return Failed("signature");
  return std::pair(std::move(own), std::move(made));
}

Result<std::string> CertificateAuthority::Issue(const CertificateRequest& request) const {
  RATCHET_ASSIGN(const auto made, impl_->Sign(request));
  std::string text = PemOf(made.first.get()) + PemOf(made.second.get());
  for (const CertificatePtr& one : impl_->between) text += PemOf(one.get());
  return text;
}

Result<std::string> CertificateAuthority::IssuePkcs12(const CertificateRequest& request,
                                                      const std::string& password) const {
  RATCHET_ASSIGN(const auto made, impl_->Sign(request));
  STACK_OF(X509)* const others = sk_X509_new_null();
  for (const CertificatePtr& one : impl_->between) sk_X509_push(others, one.get());
  const std::unique_ptr<PKCS12, Freer<PKCS12_free>> file(PKCS12_create(
      password.c_str(), request.common_name.c_str(), made.first.get(), made.second.get(), others, 0, 0, 0, 0, 0));
  sk_X509_free(others);
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (file == nullptr || i2d_PKCS12_bio(bio.get(), file.get()) != 1) return Failed("PKCS#12");
  return TextOf(bio);
}

Result<std::string> CertificateAuthority::RevocationList(const std::vector<std::string>& certificates, int days) const {
  const RevocationListPtr list(X509_CRL_new());
  if (list == nullptr) return Failed("a list");
  X509_CRL* const raw = list.get();
  X509_CRL_set_version(raw, X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(raw, X509_get_subject_name(impl_->certificate.get()));
  const std::unique_ptr<ASN1_TIME, Freer<ASN1_TIME_free>> now(X509_gmtime_adj(nullptr, -60));
  const std::unique_ptr<ASN1_TIME, Freer<ASN1_TIME_free>> next(X509_gmtime_adj(nullptr, days * 86'400L - 30));
  X509_CRL_set1_lastUpdate(raw, now.get());
  X509_CRL_set1_nextUpdate(raw, next.get());
  for (const std::string& text : certificates) {
    const BioPtr bio = BioOf(text);
    const CertificatePtr one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) return Failed("not a certificate");
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(one.get()));
    X509_REVOKED_set_revocationDate(entry, now.get());
    X509_CRL_add0_revoked(raw, entry);
  }
  X509_CRL_sort(raw);
  if (X509_CRL_sign(raw, impl_->key.get(), EVP_sha256()) <= 0) return Failed("signature");
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_CRL(bio.get(), raw);
  return TextOf(bio);
}

std::string CertificateAuthority::CertificatePem() const { return PemOf(impl_->certificate.get()); }
std::string CertificateAuthority::KeyPem() const { return PemOf(impl_->key.get()); }

}  // namespace ratchet::tls
