#include "common/tls/tls_session.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/mutant.h"
#include "common/tls/openssl_types.h"

namespace ratchet::tls {
namespace {

// An idle session has no buffer of its own.
thread_local std::array<char, kRecordBytes> record;

// The two ends of an SSL: bytes from the peer, and bytes for it. No bytes are copied in between.
struct Wire {
  std::string_view input;
  std::string output;
  std::size_t key_updates = 0;
  std::size_t received = 0;
};

int WriteWire(BIO* bio, const char* data, std::size_t size, std::size_t* written) {
  static_cast<Wire*>(BIO_get_data(bio))->output.append(data, size);
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

// A peer may change its keys at any time, and each change costs this side more than the peer.
void CountKeyUpdates(int writing, int /*version*/, int type, const void* bytes, std::size_t size, SSL* /*ssl*/,
                     void* wire) {
  if (writing == 0 && type == SSL3_RT_HANDSHAKE && size > 0 &&
      *static_cast<const unsigned char*>(bytes) == SSL3_MT_KEY_UPDATE)
    ++static_cast<Wire*>(wire)->key_updates;
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
};

TlsSession::TlsSession(void* ssl) : impl_(std::make_unique<Impl>()) {
  const MutexLock lock(mutex_);
  impl_->ssl.reset(static_cast<SSL*>(ssl));
  BIO* const bio = BIO_new(WireMethod());
  RATCHET_CHECK(bio != nullptr, "no memory for a TLS connection");
  BIO_set_data(bio, &impl_->wire);
  SSL_set_bio(impl_->ssl.get(), bio, bio);
  SSL_set_msg_callback(impl_->ssl.get(), CountKeyUpdates);
  SSL_set_msg_callback_arg(impl_->ssl.get(), &impl_->wire);
}

TlsSession::~TlsSession() = default;

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
    established_.store(true, std::memory_order_release);
  }
  for (;;) {
    const int count = SSL_read(ssl, record.data(), static_cast<int>(record.size()));
    if (impl.wire.key_updates > kMostKeyUpdates + impl.wire.received / kKeyUpdateEvery &&
        !RATCHET_MUTANT("tls.endless_key_updates"))
      return Error(Code::kResourceExhausted, "TLS: the peer changes its keys too often");
    if (count <= 0) return failed(count);
    plain.append(record.data(), static_cast<std::size_t>(count));
  }
}

Status TlsSession::Seal(std::span<const std::string_view> parts, std::string& out) {
  const MutexLock lock(mutex_);
  Impl& impl = *impl_;
  ERR_clear_error();
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
  out += std::exchange(impl.wire.output, {});
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

std::string TlsSession::Describe() const {
  const MutexLock lock(mutex_);
  return fmt::format("{}, {}", SSL_get_version(impl_->ssl.get()), SSL_get_cipher_name(impl_->ssl.get()));
}

}  // namespace ratchet::tls
