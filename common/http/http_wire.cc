#include "common/http/http_wire.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/result.h"

namespace ratchet::http {
namespace {

constexpr std::size_t kPieceBytes = 16U << 10U;
constexpr std::size_t kMostSealed = 4 * kPieceBytes;  // of plain text at once
constexpr std::size_t kMostSent = 16 * kPieceBytes;
constexpr char kTlsRecord = 0x16;

bool TryLater() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

HttpWire::HttpWire(int fd, HttpTlsMode mode, const tls::ProcessTls* tls, std::string address, Millis handshake)
    : fd_(fd),
      mode_(mode),
      tls_(tls),
      handshake_(handshake),
      kind_(mode == HttpTlsMode::kOff ? Kind::kPlain : Kind::kUnknown) {
  peer_.local = IsLoopbackAddress(address);
  peer_.address = std::move(address);
  peer_.known = std::make_shared<std::atomic<bool>>(false);
}

HttpWire::Got HttpWire::Receive(std::string& plain, TimePoint now) {
  std::array<char, kPieceBytes> piece{};
  const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
  if (got < 0 && TryLater()) return Got::kNothing;
  if (got <= 0) return Got::kEnd;
  const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
  if (kind_ == Kind::kUnknown) {
    kind_ = bytes.front() == kTlsRecord ? Kind::kTls : Kind::kPlain;
    if (kind_ == Kind::kPlain && mode_ == HttpTlsMode::kRequire && !RATCHET_MUTANT("http.plain_at_tls"))
      return Got::kPlainAtTls;
  }
  if (kind_ == Kind::kTls) return Open(bytes, plain, now);
  plain.append(bytes);
  return Got::kBytes;
}

HttpWire::Got HttpWire::Open(std::string_view bytes, std::string& plain, TimePoint now) {
  if (session_ == nullptr) {
    judged_ = tls_->changes();  // read first, so that a change in between leads to another judgement
    const auto context = tls_->page_context();
    if (context == nullptr) return Got::kEnd;
    session_ = context->Accept();
    handshake_ends_ = now + handshake_;
  }
  const Status fed = session_->Feed(bytes, plain);
  const bool sent = Flush();  // an alert has the reason for the client
  if (!fed.ok()) RATCHET_LOG(kDebug, "http: {}: {}", peer_.address, fed.error().message());
  if (!fed.ok() || !sent) return Got::kEnd;
  if (session_->established() && !peer_.encrypted) Learn();
  if (!plain.empty()) return Got::kBytes;
  return session_->peer_ended() ? Got::kEnd : Got::kNothing;
}

void HttpWire::Learn() {
  peer_.encrypted = true;
  peer_.certificate = session_->peer_certificate();
  peer_.tls = session_->Describe();
  if (const auto expires = session_->peer_expires(); expires.has_value())
    peer_.expires_ms = static_cast<std::int64_t>(*expires) * 1'000;
}

std::int64_t HttpWire::Send(std::string_view plain) {
  if (kind_ != Kind::kTls) {
    if (plain.empty()) return 0;
    const ssize_t went = ::send(fd_.get(), plain.data(), std::min(plain.size(), kMostSent), MSG_NOSIGNAL);
    return went < 0 && TryLater() ? 0 : went;
  }
  if (session_ == nullptr || !Flush()) return -1;
  if (sealed_.empty() && sealed_of_ == 0 && !plain.empty() && session_->established()) {
    const std::array<std::string_view, 1> parts{plain.substr(0, kMostSealed)};
    if (!session_->Seal(parts, sealed_).ok()) return -1;
    sealed_of_ = parts[0].size();
    if (!Flush()) return -1;
  }
  return sealed_.empty() ? static_cast<std::int64_t>(std::exchange(sealed_of_, 0)) : 0;
}

bool HttpWire::has_output() const { return !sealed_.empty() || (session_ != nullptr && session_->has_output()); }

// Returns false if the socket has ended. It takes bytes of the session only if no sealed ones wait, so their order
// stays, and they have a bound.
bool HttpWire::Flush() {
  if (sealed_.empty() && session_->has_output() && !session_->Seal({}, sealed_).ok()) return false;
  if (sealed_.empty()) return true;
  const ssize_t went = ::send(fd_.get(), sealed_.data() + sealed_sent_, sealed_.size() - sealed_sent_, MSG_NOSIGNAL);
  if (went < 0) return TryLater();
  sealed_sent_ += static_cast<std::size_t>(went);
  if (sealed_sent_ < sealed_.size()) return true;
  sealed_.clear();
  sealed_.shrink_to_fit();
  sealed_sent_ = 0;
  return true;
}

bool HttpWire::HasToEnd(TimePoint now, std::int64_t wall_ms) {
  if (session_ == nullptr) return false;
  if (!session_->established()) return now >= handshake_ends_;
  if (peer_.certificate == nullptr) return false;
  if (wall_ms >= peer_.expires_ms) return true;
  const std::uint64_t changes = tls_->changes();
  if (judged_ == changes) return false;
  judged_ = changes;
  const auto context = tls_->page_context();
  return context == nullptr || session_->PeerIsRevoked(context->material());
}

void HttpWire::Bye() {
  if (session_ != nullptr && session_->EndWriting()) static_cast<void>(Flush());
}

}  // namespace ratchet::http
