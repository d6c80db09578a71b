#include "common/tls/tls_context.h"

#include <openssl/x509v3.h>

#include <array>
#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/host_port.h"
#include "common/base/mutant.h"
#include "common/tls/tls_material.h"

namespace ratchet::tls {
namespace {

constexpr long kMostCertificateList = 32L << 10;
constexpr int kSecurityLevel = 2;  // RSA of 2,048 bits, no SHA-1
constexpr char kCiphers12[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr char kAnyCiphers12[] = "ALL";  // of a mutant
constexpr char kCiphers13[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

Error Failed(const char* what) {
  return {Code::kInvalidArgument, fmt::format("TLS: {}: {}", what, TakeOpenSslError())};
}

// An authority without a list has revoked no certificate, and a list that is out of date stays in force.
int TakeOldLists(int ok, X509_STORE_CTX* context) {
  if (ok == 1) return 1;
  const int code = X509_STORE_CTX_get_error(context);
  if (code != X509_V_ERR_UNABLE_TO_GET_CRL && code != X509_V_ERR_CRL_HAS_EXPIRED) return 0;
  X509_STORE_CTX_set_error(context, X509_V_OK);
  return 1;
}

// A resumed session would not check the certificate of its client again.
void ResumeNothing(SSL_CTX* context) {
  const bool resumes = RATCHET_MUTANT("tls.resume_sessions");
  SSL_CTX_set_options(context, resumes ? 0 : SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, resumes ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, resumes ? 1 : 0);
  // OpenSSL resumes no session of a client with a certificate without it.
  constexpr std::array<unsigned char, 1> kId{'r'};
  SSL_CTX_set_session_id_context(context, kId.data(), kId.size());
}

// Settings of both sides.
Result<SslContextPtr> MakeSide(const TlsMaterial::Parts& parts, const SSL_METHOD* method) {
  SslContextPtr context(SSL_CTX_new(method));
  if (context == nullptr) return Failed("no context");
  SSL_CTX* const raw = context.get();
  const bool weak = RATCHET_MUTANT("tls.any_strength");
  SSL_CTX_set_security_level(raw, weak ? 0 : kSecurityLevel);
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(raw, TLS1_3_VERSION);
  if (SSL_CTX_set_cipher_list(raw, weak ? kAnyCiphers12 : kCiphers12) != 1 ||
      SSL_CTX_set_ciphersuites(raw, kCiphers13) != 1)
    return Failed("no cipher suites");
  SSL_CTX_clear_options(raw, SSL_OP_LEGACY_SERVER_CONNECT | SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                               SSL_OP_PRIORITIZE_CHACHA);
  ResumeNothing(raw);
  SSL_CTX_set_max_early_data(raw, 0);
  SSL_CTX_set_max_cert_list(raw, kMostCertificateList * (RATCHET_MUTANT("tls.any_certificate_list") ? 32 : 1));
  SSL_CTX_set_verify_depth(raw, kMostDepth * (RATCHET_MUTANT("tls.any_depth") ? 10 : 1));
  X509_STORE* const store = SSL_CTX_get_cert_store(raw);
  for (const CertificatePtr& root : parts.trusted) X509_STORE_add_cert(store, root.get());
  for (const RevocationListPtr& list : parts.revoked) X509_STORE_add_crl(store, list.get());
  if (!parts.revoked.empty() && !RATCHET_MUTANT("tls.take_the_revoked")) {
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    X509_STORE_set_verify_cb(store, TakeOldLists);
  }
  if (parts.key != nullptr) {
    if (SSL_CTX_use_certificate(raw, parts.chain.front().get()) != 1 ||
        SSL_CTX_use_PrivateKey(raw, parts.key.get()) != 1)
      return Failed("the certificate cannot be used");
    for (std::size_t i = 1; i < parts.chain.size(); ++i) {
      if (SSL_CTX_add1_chain_cert(raw, parts.chain[i].get()) != 1) return Failed("the chain cannot be used");
    }
  }
  ERR_clear_error();
  return context;
}

}  // namespace

struct TlsContext::Impl {
  SslContextPtr server;  // null: no certificate
  SslContextPtr client;
};

TlsContext::TlsContext(std::shared_ptr<const TlsMaterial> material, std::unique_ptr<Impl> impl)
    : material_(std::move(material)), impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<const TlsContext>> TlsContext::Make(std::shared_ptr<const TlsMaterial> material,
                                                           ClientCertificates clients) {
  const TlsMaterial::Parts& parts = material->parts();
  auto impl = std::make_unique<Impl>();
  RATCHET_ASSIGN(impl->client, MakeSide(parts, TLS_client_method()));
  SSL_CTX_set_verify(impl->client.get(), RATCHET_MUTANT("tls.any_server") ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (parts.key != nullptr) {
    RATCHET_ASSIGN(impl->server, MakeSide(parts, TLS_server_method()));
    const bool lax = RATCHET_MUTANT("tls.no_client_certificate_needed");
    const int need = clients == ClientCertificates::kNeed && !lax ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    if (clients == ClientCertificates::kNone)
      SSL_CTX_set_verify(impl->server.get(), SSL_VERIFY_NONE, nullptr);
    else
      SSL_CTX_set_verify(impl->server.get(), SSL_VERIFY_PEER | need, nullptr);
    // Java chooses its certificate by these names.
    for (const CertificatePtr& root : parts.trusted) SSL_CTX_add_client_CA(impl->server.get(), root.get());
  }
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(material), std::move(impl)));
}

std::unique_ptr<TlsSession> TlsContext::Accept() const {
  RATCHET_CHECK(impl_->server != nullptr, "a TLS server without a certificate");
  SSL* const ssl = SSL_new(impl_->server.get());
  RATCHET_CHECK(ssl != nullptr, "no memory for a TLS connection");
  SSL_set_accept_state(ssl);
  return std::make_unique<TlsSession>(ssl);
}

std::unique_ptr<TlsSession> TlsContext::Connect(const std::string& host) const {
  SSL* const ssl = SSL_new(impl_->client.get());
  RATCHET_CHECK(ssl != nullptr, "no memory for a TLS connection");
  SSL_set_connect_state(ssl);
  const bool numeric = IsNumericHost(host);
  if (!RATCHET_MUTANT("tls.any_host_name")) {
    X509_VERIFY_PARAM* const names = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(names, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // OpenSSL checks no name at all where the name is empty. A name that cannot be checked must match no certificate.
    const bool usable = numeric ? X509_VERIFY_PARAM_set1_ip_asc(names, host.c_str()) == 1
                                : !host.empty() && X509_VERIFY_PARAM_set1_host(names, host.data(), host.size()) == 1;
    if (!usable) RATCHET_CHECK(X509_VERIFY_PARAM_set1_host(names, "name.invalid", 0) == 1, "no host name can be set");
  }
  if (!numeric && host.find('.') != std::string::npos) SSL_set_tlsext_host_name(ssl, host.c_str());
  ERR_clear_error();
  return std::make_unique<TlsSession>(ssl);
}

}  // namespace ratchet::tls
