// The encrypted form of a server's connection. Handshakes are computed on threads of their own; then the I/O thread
// opens what it reads, and the writing thread seals what it writes.
#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/member_identity.h"
#include "common/rpc/server_connection.h"
#include "common/tls/process_tls.h"
#include "common/tls/tls_context.h"

namespace ratchet::rpc {
namespace {

constexpr char kTlsRecord = 0x16;                   // first byte of a TLS client; no preamble begins with it
constexpr std::size_t kMostSealedAtOnce = 1 << 20;  // plain bytes; the rest waits as it is
constexpr std::int64_t kBetweenLinesMs = 1'000;
constexpr Millis kLookAtTime{20'000};
constexpr Millis kLetCallsEnd{1'000};

std::int64_t NowMs() { return std::chrono::duration_cast<Millis>(SystemClock().Now().time_since_epoch()).count(); }

}  // namespace

// Called with the first bytes of a connection. Returns true if it continues in plain text.
bool ServerConnection::ChooseTransport() {
  if (input_.size() == 0) return false;
  const tls::TlsMode mode = shared_.options.tls->accepts();
  const bool hello = input_.Peek().front() == kTlsRecord;
  if (hello && mode != tls::TlsMode::kOff) {
    BeginTls();
    return false;
  }
  if (hello) {
    RefuseTls("it speaks TLS, and this port does not (--tls is off)");
    return false;
  }
  if (mode == tls::TlsMode::kRequire && !RATCHET_MUTANT("tls.plain_text_anyway")) {
    // HBase's clients would otherwise retry for 20 minutes.
    Refuse(RemoteError(exception::kFatalConnection, "this port speaks TLS only"));
    return false;
  }
  return true;
}

// A line of the log for each client would fill the disk.
void ServerConnection::RefuseTls(const std::string& why) {
  counters_->bad_connections.fetch_add(1);
  const std::int64_t now = NowMs();
  std::int64_t next = shared_.next_tls_line.load();
  if (now >= next && shared_.next_tls_line.compare_exchange_strong(next, now + kBetweenLinesMs))
    RATCHET_LOG(kWarn, "connection from {} closed: {} (at most one such line a second)", peer_, why);
  if (tls_ == nullptr) return Close();
  SendTlsOutput();  // the alert
  Linger();
}

void ServerConnection::BeginTls() {
  std::string address = PeerHost();
  if (!shared_.handshakes.Enter(address)) return RefuseTls("too many TLS handshakes are in progress");
  const std::uint64_t changes = shared_.options.tls->changes();  // before the context
  tls_ = std::make_unique<ServerTls>(ServerTls{shared_.options.tls->context()->Accept(), std::move(address)});
  tls_->judged = changes;
  phase_ = Phase::kHandshake;
  if (!beyond_) CloseUnlessSetUpWithin(std::min(TlsHandshakes::kWithin, shared_.options.setup_timeout));
  std::string bytes;
  static_cast<void>(input_.CutBytes(input_.size(), bytes));
  Handshake(std::move(bytes));
}

// The connection is not read until the bytes are processed.
void ServerConnection::Handshake(std::string bytes) {
  shared_.handshakes.Post([self = shared_from_this(), bytes = std::move(bytes)] {
    std::string plain;
    const Status fed = self->tls_->session->Feed(bytes, plain);
    ServerConnection& connection = *self;
    asio::post(connection.executor(),
               [self, fed, plain = std::move(plain)]() mutable { self->OnHandshake(fed, std::move(plain)); });
  });
}

void ServerConnection::OnHandshake(const Status& fed, std::string plain) {
  if (phase_ != Phase::kHandshake) return;
  if (!fed.ok()) {
    EndHandshake();
    RefuseTls(fed.error().message());
    return WaitReadable();
  }
  SendTlsOutput();
  if (!tls_->session->established()) return WaitReadable();
  EndHandshake();
  tls_->peer = tls_->session->peer_certificate();
  if (IsRevoked()) return RefuseTls("its client's certificate was revoked during the handshake");
  RATCHET_LOG(kDebug, "connection from {}: {}", peer_, tls_->session->Describe());
  phase_ = Phase::kPreamble;
  if (!beyond_) CloseUnlessSetUpWithin(shared_.options.setup_timeout);
  LimitToCertificate();
  capture_.ToServer(plain);
  input_.Append(plain);
  Consume();
  if (tls_->session->peer_ended()) return Close();
  if (!paused_.load()) WaitReadable();
}

void ServerConnection::EndHandshake() {
  if (std::exchange(tls_->in_handshake, false)) shared_.handshakes.Leave(tls_->address);
}

// The connection ends with the certificate by which its client was accepted, when that is revoked, and by age. Between
// these looks an idle one frees its buffers.
void ServerConnection::LimitToCertificate() {
  const auto expires = tls_->session->peer_expires();
  const Millis age = shared_.options.tls->connection_age();
  if (age > Millis(0)) {
    // Spread by the connection's number, so that clients do not all connect again at once.
    const std::int64_t spread = static_cast<std::int64_t>(id_ * 7'919 % 200) - 100;
    tls_->age_ends_ms = NowMs() + age.count() + age.count() * spread / 1'000;
  }
  tls_->expiry = std::make_unique<asio::steady_timer>(socket_.get_executor());
  LookAtTime(expires.has_value() ? std::int64_t{*expires} * 1'000 : INT64_MAX);
}

void ServerConnection::LookAtTime(std::int64_t expires_ms) {
  // A timer cannot be set to the year 9999, and the wall clock may be corrected meanwhile.
  std::int64_t wait = std::min<std::int64_t>(expires_ms - SystemClock().WallMillis(), kLookAtTime.count());
  if (tls_->age_ends_ms != 0) wait = std::min(wait, std::max(tls_->age_ends_ms - NowMs(), kLetCallsEnd.count()));
  tls_->expiry->expires_after(Millis(std::max<std::int64_t>(wait, 0)));
  tls_->expiry->async_wait([weak = weak_from_this(), expires_ms](ErrorCode cancelled) {
    const auto self = weak.lock();
    if (cancelled || self == nullptr || self->phase_ == Phase::kClosed) return;
    if (SystemClock().WallMillis() >= expires_ms) {
      RATCHET_LOG(kInfo, "connection from {} closed: its client's certificate has expired", self->peer_);
      return self->Close();
    }
    if (self->IsRevoked()) return self->Close();
    self->tls_->session->Rest();
    const std::int64_t age_ends = self->tls_->age_ends_ms;
    const bool idle = self->calls_.load() == 0 && self->unsent_bytes_.load() == 0;
    // A client that always has calls in flight is closed a little later.
    if (age_ends != 0 && NowMs() >= age_ends && (idle || NowMs() >= age_ends + kLookAtTime.count()))
      return self->Close();
    self->LookAtTime(expires_ms);
  });
}

// S162 (require ends plain text): a connection that began before a reload required TLS ends too.
bool ServerConnection::PlainTextHolds() const {
  return tls_ != nullptr || shared_.options.tls == nullptr ||
         shared_.options.tls->accepts() != tls::TlsMode::kRequire || RATCHET_MUTANT("tls.plain_text_remains");
}

// S154 (no silent exposure): a client that named its own user, and began before a reload required certificates, ends.
bool ServerConnection::CertificateHolds() const {
  return tls_ == nullptr || tls_->peer != nullptr || caller_.authentication != Authentication::kSimple ||
         !shared_.options.tls->only_certificates();
}

// For a client that sends nothing more. A call that is in progress is answered first.
void ServerConnection::WatchPlainText() {
  timer_ = std::make_unique<asio::steady_timer>(socket_.get_executor(), kLookAtTime);
  timer_->async_wait([weak = weak_from_this()](ErrorCode cancelled) {
    const auto self = weak.lock();
    if (cancelled || self == nullptr || self->phase_ != Phase::kRequests) return;
    const bool idle = self->calls_.load() == 0 && self->unsent_bytes_.load() == 0;
    if (idle && !self->PlainTextHolds()) return self->Close();
    self->WatchPlainText();
  });
}

// Compares only if the process's files have changed since the last check.
bool ServerConnection::IsRevoked() {
  const std::uint64_t changes = shared_.options.tls->changes();
  if (tls_->peer == nullptr || tls_->judged == changes) return false;
  tls_->judged = changes;
  const auto context = shared_.options.tls->context();
  if (context == nullptr || !tls_->session->PeerIsRevoked(context->material())) return false;
  RATCHET_LOG(kWarn, "connection from {} closed: its client's certificate {} was revoked", peer_, tls_->peer->serial);
  return true;
}

// Returns false if the caller must not continue to read.
bool ServerConnection::TakeSealed(std::string_view bytes) {
  if (phase_ == Phase::kHandshake) {
    Handshake(std::string(bytes));
    return false;
  }
  std::string plain;
  const Status fed = tls_->session->Feed(bytes, plain);
  SendTlsOutput();
  if (!fed.ok()) {
    RefuseTls(fed.error().message());
    WaitReadable();
    return false;
  }
  return TakePlain(plain);
}

// Takes bytes of which the encryption of the connection, if there is one, was removed. Returns false if the caller must
// not continue to read.
bool ServerConnection::TakePlain(std::string_view bytes) {
  if (Protects()) return TakeProtected(bytes);
  capture_.ToServer(bytes);
  input_.Append(bytes);
  return true;
}

// On the I/O thread: sends what the session has produced by itself (handshake, alerts, key updates).
void ServerConnection::SendTlsOutput() {
  if (!tls_->session->has_output()) return;
  bool at_once = false;
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    at_once = !std::exchange(writes_, true);
  }
  if (at_once) WriteAtOnce();
}

// Called by the writing thread when all bytes are written. Takes the outbox; returns false if nothing is left.
bool ServerConnection::HasWork() {
  if (!Seals()) {
    if (outbox_.empty()) return false;
    writing_.swap(outbox_);
    return true;
  }
  for (std::string& part : outbox_) sealing_.push_back(std::move(part));
  outbox_.clear();
  if (!sealing_.empty()) return true;
  return tls_ != nullptr && (tls_->session->has_output() || (lingers_ && tls_->session->EndWriting()));
}

// Called by the writing thread. Returns false if the connection can no longer be used.
bool ServerConnection::SealSome() {
  if (!writing_.empty()) return true;
  std::vector<std::string_view> parts;
  std::size_t plain = 0;
  for (std::size_t i = 0; i < sealing_.size() && plain < kMostSealedAtOnce; ++i) {
    const std::string_view whole = sealing_[i];
    const std::string_view part = whole.substr(i == 0 ? sealed_of_first_ : 0).substr(0, kMostSealedAtOnce - plain);
    capture_.ToClient(part);
    parts.push_back(part);
    plain += part.size();
  }
  std::string sealed;
  if (!SealParts(parts, sealed)) return false;
  for (const std::string_view part : parts) {
    sealed_of_first_ += part.size();
    if (sealed_of_first_ < sealing_.front().size()) break;
    sealing_.pop_front();
    sealed_of_first_ = 0;
  }
  {
    const std::size_t more = sealed.size() - std::min(plain, sealed.size());
    const MutexLock lock(mutex_);
    unsent_bytes_.fetch_add(more);
    if (!closed_) counters_->unsent_bytes.fetch_add(more);
  }
  if (!sealed.empty()) writing_.push_back(std::move(sealed));
  return true;
}

// First the protection of a Kerberos login, then TLS.
bool ServerConnection::SealParts(std::vector<std::string_view> parts, std::string& sealed) {
  std::string units;
  if (Protects()) {
    auto made = kerberos_->stream->Seal(parts);
    if (!made.ok()) return false;
    units = std::move(*made);
    parts = {units};
  }
  if (tls_ != nullptr) return tls_->session->Seal(parts, sealed).ok();
  sealed = std::move(units);
  return true;
}

std::string ServerConnection::MemberBinding() const {
  return tls_ == nullptr ? std::string() : tls_->session->MemberBinding();
}

}  // namespace ratchet::rpc
