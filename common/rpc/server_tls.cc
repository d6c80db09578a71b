// The encrypted form of a server's connection. Handshakes are computed on threads of their own; then the I/O thread
// opens what it reads, and the writing thread seals what it writes.
#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/member_identity.h"
#include "common/rpc/server_connection.h"
#include "common/tls/process_tls.h"

namespace ratchet::rpc {
namespace {

constexpr char kTlsRecord = 0x16;                   // first byte of a TLS client; no preamble begins with it
constexpr std::size_t kMostSealedAtOnce = 1 << 20;  // plain bytes; the rest waits as it is
constexpr std::int64_t kBetweenLinesMs = 1'000;
constexpr Millis kLookAtExpiry{60'000};

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
  const auto split = SplitHostPort(peer_);
  std::string address = split.has_value() ? split->host : peer_;
  if (!shared_.handshakes.Enter(address)) return RefuseTls("too many TLS handshakes are in progress");
  tls_ = std::make_unique<ServerTls>(ServerTls{shared_.options.tls->context()->Accept(), std::move(address)});
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

// The connection ends with the certificate by which its client was accepted.
void ServerConnection::LimitToCertificate() {
  const auto expires = tls_->session->peer_expires();
  if (!expires.has_value()) return;
  const std::int64_t ends_ms = std::int64_t{*expires} * 1'000;
  const Millis left(ends_ms - SystemClock().WallMillis());
  tls_->expiry = std::make_unique<asio::steady_timer>(socket_.get_executor());
  // A timer cannot be set to the year 9999, and the wall clock may be corrected meanwhile.
  tls_->expiry->expires_after(std::clamp(left, Millis(0), kLookAtExpiry));
  tls_->expiry->async_wait([weak = weak_from_this(), ends_ms](ErrorCode cancelled) {
    const auto self = weak.lock();
    if (cancelled || self == nullptr || self->phase_ == Phase::kClosed) return;
    if (SystemClock().WallMillis() < ends_ms) return self->LimitToCertificate();
    RATCHET_LOG(kInfo, "connection from {} closed: its client's certificate has expired", self->peer_);
    self->Close();
  });
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
  capture_.ToServer(plain);
  input_.Append(plain);
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
  if (tls_ == nullptr) {
    if (outbox_.empty()) return false;
    writing_.swap(outbox_);
    return true;
  }
  for (std::string& part : outbox_) tls_->sealing.push_back(std::move(part));
  outbox_.clear();
  if (!tls_->sealing.empty() || tls_->session->has_output()) return true;
  return lingers_ && tls_->session->EndWriting();
}

// Called by the writing thread. Returns false if the connection can no longer be used.
bool ServerConnection::SealSome() {
  if (!writing_.empty()) return true;
  std::vector<std::string_view> parts;
  std::size_t plain = 0;
  auto& sealing = tls_->sealing;
  for (std::size_t i = 0; i < sealing.size() && plain < kMostSealedAtOnce; ++i) {
    const std::string_view whole = sealing[i];
    const std::string_view part = whole.substr(i == 0 ? tls_->sealed_of_first : 0).substr(0, kMostSealedAtOnce - plain);
    capture_.ToClient(part);
    parts.push_back(part);
    plain += part.size();
  }
  std::string sealed;
  if (!tls_->session->Seal(parts, sealed).ok()) return false;
  for (const std::string_view part : parts) {
    tls_->sealed_of_first += part.size();
    if (tls_->sealed_of_first < sealing.front().size()) break;
    sealing.pop_front();
    tls_->sealed_of_first = 0;
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

std::string ServerConnection::MemberBinding() const {
  return tls_ == nullptr ? std::string() : tls_->session->MemberBinding();
}

}  // namespace ratchet::rpc
