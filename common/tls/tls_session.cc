#include "common/tls/tls_session.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/core.h>
#include <openssl/x509v3.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "common/tls/openssl_types.h"
#include "common/tls/tls_material.h"

namespace ratchet::tls {
namespace {

constexpr std::size_t kMostRecordOverhead = 5 + 1 + 8 + 16;  // header, type, nonce of TLS 1.2, tag

// An idle session has no buffer of its own.
thread_local std::array<char, kRecordBytes> record;

// Sessions that keep OpenSSL's two buffers between their records, in this process.
std::atomic<std::size_t> sessions_with_buffers{0};

// The two ends of an SSL: bytes from the peer, and bytes for it. No bytes are copied in between.
struct Wire {
  std::string_view input;
  std::string output;           // what the session writes by itself
  std::string* sink = &output;  // during Seal, the caller's
  std::size_t key_changes = 0;
  std::size_t received = 0;
};

int WriteWire(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
  static_cast<Wire*>(BIO_get_data(bio))->sink->append(data, size);
  *written = size;
  return 1;
}

int ReadWire(BIO* bio, char* data, std::size_t size, std::size_t* count) {
  Wire& wire = *static_cast<Wire*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (wire.input.empty()) {
    BIO_set_retry_read(bio);
    *count = 0;
    return 0;
  }
  *count = std::min(size, wire.input.size());
  std::memcpy(data, wire.input.data(), *count);
  wire.input.remove_prefix(*count);
  return 1;
}

long ControlWire(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int CreateWire(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

const BIO_METHOD* WireMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "ratchet wire");
    RATCHET_CHECK(made != nullptr, "OpenSSL makes no BIO_METHOD");
    BIO_meth_set_write_ex(made, WriteWire);
    BIO_meth_set_read_ex(made, ReadWire);
    BIO_meth_set_ctrl(made, ControlWire);
    BIO_meth_set_create(made, CreateWire);
    return made;
  }();
  return method;
}

// A peer may change its keys at any time, and each change costs this side more than the peer. In TLS 1.2 it asks for
// another handshake, which OpenSSL refuses by a warning, as often as it is asked.
void CountKeyChanges(int writing, int /*version*/, int type, const void* bytes, std::size_t size, SSL* /*ssl*/,
                     void* wire) {
  const auto* const message = static_cast<const unsigned char*>(bytes);
  const bool update = writing == 0 && type == SSL3_RT_HANDSHAKE && size > 0 && message[0] == SSL3_MT_KEY_UPDATE;
  const bool refused = writing == 1 && type == SSL3_RT_ALERT && size > 1 && message[1] == SSL_AD_NO_RENEGOTIATION;
  if (update || refused) ++static_cast<Wire*>(wire)->key_changes;
}

// The reason of the peer's certificate says more than "certificate verify failed".
std::string WhyFailed(const SSL* ssl) {
  const long verdict = SSL_get_verify_result(ssl);
  std::string why = TakeOpenSslError();
  if (verdict == X509_V_OK) return why;
  return fmt::format("{}: {}", why, X509_verify_cert_error_string(verdict));
}

}  // namespace

struct TlsSession::Impl {
  Wire wire;
  SslPtr ssl;
  bool failed = false;
  bool ended = false;
  bool keeps_buffers = false;
  bool used = false;  // since Rest was called

  void KeepBuffers();
  void FreeBuffers();
};

// A failed attempt at most sees a place that another session has for this moment only.
void TlsSession::Impl::KeepBuffers() {
  used = true;
  if (keeps_buffers) return;
  if (sessions_with_buffers.fetch_add(1) >= kMostSessionsWithBuffers) {
    sessions_with_buffers.fetch_sub(1);
    return;
  }
  keeps_buffers = true;
  SSL_clear_mode(ssl.get(), SSL_MODE_RELEASE_BUFFERS);
}

void TlsSession::Impl::FreeBuffers() {
  SSL_set_mode(ssl.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_free_buffers(ssl.get());  // does nothing while a record is incomplete
  if (std::exchange(keeps_buffers, false)) sessions_with_buffers.fetch_sub(1);
}

TlsSession::TlsSession(void* ssl) : impl_(std::make_unique<Impl>()) {
  const MutexLock lock(mutex_);
  impl_->ssl.reset(static_cast<SSL*>(ssl));
  BIO* const bio = BIO_new(WireMethod());
  RATCHET_CHECK(bio != nullptr, "no memory for a TLS connection");
  BIO_set_data(bio, &impl_->wire);
  SSL_set_bio(impl_->ssl.get(), bio, bio);
  SSL_set_msg_callback(impl_->ssl.get(), CountKeyChanges);
  SSL_set_msg_callback_arg(impl_->ssl.get(), &impl_->wire);
}

TlsSession::~TlsSession() {
  const MutexLock lock(mutex_);
  impl_->FreeBuffers();
}

std::size_t TlsSession::WithBuffers() { return sessions_with_buffers.load(); }

void TlsSession::Rest() {
  const MutexLock lock(mutex_);
  if (!std::exchange(impl_->used, false)) impl_->FreeBuffers();
}

Status TlsSession::FeedNothing() {
  std::string plain;
  return Feed({}, plain);
}

Status TlsSession::Feed(std::string_view bytes, std::string& plain) {
  const MutexLock lock(mutex_);
  if (impl_->failed) return Error(Code::kUnavailable, "the TLS connection has ended");
  ERR_clear_error();
  impl_->wire.input = bytes;
  impl_->wire.received += bytes.size();
  Status advanced = Advance(plain);
  impl_->wire.input = {};
  impl_->failed = !advanced.ok();
  output_bytes_.store(impl_->wire.output.size(), std::memory_order_release);
  return advanced;
}

Status TlsSession::Advance(std::string& plain) {
  Impl& impl = *impl_;
  SSL* const ssl = impl.ssl.get();
  const auto failed = [&](int returned) -> Status {
    const int why = SSL_get_error(ssl, returned);
    if (why == SSL_ERROR_WANT_READ) return Ok();
    if (why == SSL_ERROR_ZERO_RETURN) {
      peer_ended_.store(true, std::memory_order_release);
      return Ok();
    }
    return Error(Code::kUnavailable, fmt::format("TLS: {}", WhyFailed(ssl)));
  };
  if (!established()) {
    const int returned = SSL_do_handshake(ssl);
    if (returned != 1) {
      RATCHET_TRY(failed(returned));
      if (impl.wire.received > kMostHandshakeBytes && !RATCHET_MUTANT("tls.endless_handshake"))
        return Error(Code::kResourceExhausted, "TLS: the peer's part of the handshake is too large");
      return Ok();
    }
    impl.FreeBuffers();
    established_.store(true, std::memory_order_release);
  } else if (!impl.wire.input.empty()) {
    impl.KeepBuffers();
  }
  plain.reserve(plain.size() + impl.wire.input.size());
  for (;;) {
    const int count = SSL_read(ssl, record.data(), static_cast<int>(record.size()));
    if (impl.wire.key_changes > kMostKeyUpdates + impl.wire.received / kKeyUpdateEvery &&
        !RATCHET_MUTANT("tls.endless_key_updates"))
      return Error(Code::kResourceExhausted, "TLS: the peer changes its keys too often");
    if (count <= 0) return failed(count);
    plain.append(record.data(), static_cast<std::size_t>(count));
    // Another attempt would only find that nothing is left.
    if (impl.wire.input.empty() && SSL_pending(ssl) == 0) return Ok();
  }
}

Status TlsSession::Seal(std::span<const std::string_view> parts, std::string& out) {
  const MutexLock lock(mutex_);
  Impl& impl = *impl_;
  ERR_clear_error();
  std::size_t plain = 0;
  for (const std::string_view part : parts) plain += part.size();
  if (plain > 0 && established()) impl.KeepBuffers();
  out.reserve(out.size() + impl.wire.output.size() + plain + (plain / kRecordBytes + 1) * kMostRecordOverhead);
  out += std::exchange(impl.wire.output, {});
  impl.wire.sink = &out;
  std::size_t gathered = 0;
  bool sealed = true;
  const auto write = [&](const char* data, std::size_t size) {
    sealed = sealed && !impl.failed && !impl.ended && SSL_write(impl.ssl.get(), data, static_cast<int>(size)) > 0;
  };
  const auto write_gathered = [&] {
    if (gathered > 0) write(record.data(), std::exchange(gathered, 0));
  };
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const std::size_t size = std::min(part.size(), kRecordBytes - gathered);
      if (size == kRecordBytes) {
        write(part.data(), size);
      } else {
        std::memcpy(record.data() + gathered, part.data(), size);
        gathered += size;
        if (gathered == kRecordBytes) write_gathered();
      }
      part.remove_prefix(size);
    }
  }
  write_gathered();
  impl.wire.sink = &impl.wire.output;
  output_bytes_.store(0, std::memory_order_release);
  if (sealed) return Ok();
  impl.failed = true;
  return Error(Code::kUnavailable, fmt::format("TLS: cannot seal: {}", TakeOpenSslError()));
}

bool TlsSession::EndWriting() {
  const MutexLock lock(mutex_);
  if (impl_->failed || impl_->ended || !established()) return false;
  impl_->ended = true;
  SSL_shutdown(impl_->ssl.get());
  ERR_clear_error();
  output_bytes_.store(impl_->wire.output.size(), std::memory_order_release);
  return !impl_->wire.output.empty();
}

std::string TlsSession::MemberBinding() const {
  const MutexLock lock(mutex_);
  if (!established() || RATCHET_MUTANT("tls.unbound_proof")) return {};
  std::string secret(kExporterBytes, '\0');
  const int done =
      SSL_export_keying_material(impl_->ssl.get(), reinterpret_cast<unsigned char*>(secret.data()), secret.size(),
                                 kMemberExporter.data(), kMemberExporter.size(), nullptr, 0, 0);
  RATCHET_CHECK(done == 1, "OpenSSL exports no keying material");
  return secret;
}

std::optional<std::time_t> TlsSession::peer_expires() const {
  const MutexLock lock(mutex_);
  const CertificatePtr peer(SSL_get1_peer_certificate(impl_->ssl.get()));
  tm until{};
  if (peer == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(peer.get()), &until) != 1) return std::nullopt;
  return ::timegm(&until);
}

namespace {

std::string BytesOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::vector<std::string> CommonNames(const X509_NAME* subject) {
  std::vector<std::string> names;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;) {
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    // A name that is not text counts, so that two names never look like one.
    names.emplace_back(reinterpret_cast<const char*>(utf8), size > 0 ? static_cast<std::size_t>(size) : 0);
    OPENSSL_free(utf8);
  }
  return names;
}

void AddAlternativeNames(const X509* certificate, PeerCertificate& peer) {
  auto* const names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_URI) peer.uris.push_back(BytesOf(name->d.uniformResourceIdentifier));
    if (name->type == GEN_DNS) peer.dns_names.push_back(BytesOf(name->d.dNSName));
  }
  GENERAL_NAMES_free(names);
}

std::string SubjectText(const X509_NAME* subject) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), subject, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(std::max(size, 0L))};
}

}  // namespace

std::shared_ptr<const PeerCertificate> TlsSession::peer_certificate() const {
  const MutexLock lock(mutex_);
  const CertificatePtr shown(SSL_get1_peer_certificate(impl_->ssl.get()));
  if (!established() || shown == nullptr || SSL_get_verify_result(impl_->ssl.get()) != X509_V_OK) return nullptr;
  auto peer = std::make_shared<PeerCertificate>();
  const X509_NAME* const subject = X509_get_subject_name(shown.get());
  peer->subject = SubjectText(subject);
  peer->common_names = CommonNames(subject);
  AddAlternativeNames(shown.get(), *peer);
  BIGNUM* const number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(shown.get()), nullptr);
  char* const serial = number == nullptr ? nullptr : BN_bn2hex(number);
  if (serial != nullptr) peer->serial = serial;
  OPENSSL_free(serial);
  BN_free(number);
  ERR_clear_error();
  return peer;
}

bool TlsSession::PeerIsRevoked(const TlsMaterial& material) const {
  const MutexLock lock(mutex_);
  const STACK_OF(X509)* const chain = SSL_get0_verified_chain(impl_->ssl.get());
  // The last one is the trusted authority itself.
  for (int i = 0; chain != nullptr && i + 1 < sk_X509_num(chain); ++i) {
    X509* const one = sk_X509_value(chain, i);
    EVP_PKEY* const signer = X509_get0_pubkey(sk_X509_value(chain, i + 1));
    for (const RevocationListPtr& list : material.parts().revoked) {
      X509_REVOKED* entry = nullptr;
      // 2: the entry takes an earlier revocation back.
      if (X509_CRL_get0_by_cert(list.get(), &entry, one) == 1 && X509_CRL_verify(list.get(), signer) == 1) return true;
    }
  }
  ERR_clear_error();
  return false;
}

std::string TlsSession::Describe() const {
  const MutexLock lock(mutex_);
  return fmt::format("{}, {}", SSL_get_version(impl_->ssl.get()), SSL_get_cipher_name(impl_->ssl.get()));
}

}  // namespace ratchet::tls
