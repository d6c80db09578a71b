// Connecting, reading and writing of a client channel. I/O thread only.
#include <utility>

#include "common/base/log.h"
#include "common/rpc/client_channel.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/handshake.h"

namespace ratchet::rpc {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kMaxGather = 64;
constexpr char kNoProofInTime[] = "no proof within the connect time-out";

}  // namespace

void ClientChannel::Connect() {
  state_ = State::kConnecting;
  const std::uint64_t attempt = ++connection_;
  socket_.emplace(loop_);
  connect_timer_.expires_after(options_.connect_timeout);
  connect_timer_.async_wait([self = shared_from_this(), attempt](ErrorCode error) {
    if (!error) self->OnConnected(attempt, asio::error::timed_out);
  });
  // A look-up may outlast this channel and its loop.
  NameResolver::OfProcess().Resolve(endpoint_.host,
                                    [weak = weak_from_this(), attempt](const Result<NameResolver::Addresses>& found) {
                                      const auto self = weak.lock();
                                      if (self == nullptr) return;
                                      asio::dispatch(self->loop_, [weak, attempt, found] {
                                        if (const auto channel = weak.lock(); channel != nullptr)
                                          channel->OnResolved(attempt, found);
                                      });
                                    });
}

void ClientChannel::OnResolved(std::uint64_t attempt, const Result<NameResolver::Addresses>& found) {
  if (connection_ != attempt || state_ != State::kConnecting) return;
  if (!found.ok()) return NotConnected(found.error().message());
  std::vector<Tcp::endpoint> endpoints;
  for (const std::string& address : *found) {
    ErrorCode error;
    const auto parsed = asio::ip::make_address(address, error);
    if (!error) endpoints.emplace_back(parsed, endpoint_.port);
  }
  asio::async_connect(*socket_, endpoints,
                      [self = shared_from_this(), attempt](ErrorCode failed, const Tcp::endpoint&) {
                        self->OnConnected(attempt, failed);
                      });
}

void ClientChannel::NotConnected(const std::string& why) {
  connect_timer_.cancel();
  ++failures_;
  last_failure_ = why;
  retry_at_ =
      SystemClock().Now() + BackoffDelay({options_.reconnect_base, options_.reconnect_cap, 2.0, 0.2}, failures_, prng_);
  Disconnected("cannot connect: " + why);
}

void ClientChannel::OnConnected(std::uint64_t attempt, ErrorCode error) {
  if (connection_ != attempt) return;
  if (state_ == State::kProving) return NotConnected(kNoProofInTime);
  if (state_ != State::kConnecting) return;
  if (error) return NotConnected(error.message());
  ErrorCode ignored;  // only costs latency
  socket_->set_option(Tcp::no_delay(true), ignored);
  const std::string shown = std::exchange(key_in_clear_, {});
  if (options_.member != nullptr && shown.empty()) return BeginProof();
  outbox_hello_ = ClientHello(options_.user, service_, options_.cell_blocks, shown);
  Ready();
  Read();
}

void ClientChannel::Ready() {
  connect_timer_.cancel();
  failures_ = 0;
  state_ = State::kConnected;
  last_received_ = SystemClock().Now();
  answered_ = false;
  Write();
}

void ClientChannel::Write() {
  const bool connected = state_ == State::kConnected;
  if ((!connected && state_ != State::kProving) || !writing_.empty()) return;
  if (!outbox_hello_.empty()) writing_.push_back(std::exchange(outbox_hello_, {}));
  const TimePoint now = SystemClock().Now();
  std::size_t taken = 0;
  for (; connected && taken < outbox_.size() && writing_.size() < kMaxGather; ++taken) {
    PendingCall& call = *outbox_[taken];
    if (call.sent) continue;  // it has ended meanwhile
    call.sent = true;
    call.sent_at = now;
    unsent_bytes_.fetch_sub(call.frame.size());
    writing_.push_back(std::move(call.frame));
    call.frame.clear();
  }
  outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(taken));
  if (writing_.empty()) return;
  std::vector<asio::const_buffer> buffers;
  for (const std::string& frame : writing_) {
    capture_.ToServer(frame);
    buffers.emplace_back(frame.data(), frame.size());
  }
  asio::async_write(*socket_, buffers, [self = shared_from_this(), number = connection_](ErrorCode error, std::size_t) {
    if (self->connection_ != number) return;
    self->writing_.clear();
    if (error) return self->Disconnected("write: " + error.message());
    self->Write();
  });
}

void ClientChannel::Read() {
  read_buffer_.resize(kReadBytes);
  socket_->async_read_some(asio::buffer(read_buffer_),
                           [self = shared_from_this(), number = connection_](ErrorCode error, std::size_t count) {
                             if (self->connection_ != number) return;
                             if (error) return self->Disconnected(error.message());
                             self->last_received_ = SystemClock().Now();
                             const std::string_view bytes(self->read_buffer_.data(), count);
                             self->capture_.ToClient(bytes);
                             self->input_->Append(bytes);
                             if (self->state_ == State::kProving) self->ConsumeProof();
                             self->ConsumeFrames();
                             if (self->connection_ == number && self->socket_.has_value()) self->Read();
                           });
}

void ClientChannel::ConsumeFrames() {
  const std::uint64_t number = connection_;
  std::string frame;
  while (connection_ == number && state_ == State::kConnected) {
    switch (input_->Next(frame)) {
      case FrameBuffer::Cut::kNothing: return;
      case FrameBuffer::Cut::kFrame: HandleFrame(frame); break;
      case FrameBuffer::Cut::kTooBig:
      case FrameBuffer::Cut::kBad: return Disconnected("an answer beyond the frame limit");
    }
  }
}

// Fails every call of the connection. If bytes of a call may have been sent, its outcome is unknown.
void ClientChannel::Disconnected(const std::string& why) {
  if (state_ == State::kStopped) return;
  state_ = State::kIdle;
  CloseSocket();
  FailAll([&](bool sent) {
    return Error(Code::kUnavailable,
                 fmt::format("connection to {} {}: {}", endpoint_.ToString(),
                             sent ? "lost, the outcome is unknown" : "failed, nothing was sent", why),
                 std::string(sent ? kConnectionLost : kNotSent));
  });
}

void ClientChannel::CloseSocket() {
  ++connection_;
  connect_timer_.cancel();
  ErrorCode ignored;  // it may be closed already
  if (socket_.has_value()) socket_->close(ignored);
  socket_.reset();
  input_.emplace(options_.max_frame_bytes);
  outbox_hello_.clear();
  proof_.reset();
  proof_sent_ = false;
  writing_.clear();
  outbox_.clear();
}

void ClientChannel::FailAll(const std::function<Error(bool sent)>& error) {
  // Callbacks may start new calls; those come through the inbox and are not in this list.
  std::map<std::uint32_t, std::shared_ptr<PendingCall>> calls;
  calls.swap(pending_);
  deadlines_.clear();
  for (const auto& [id, call] : calls) Complete(call, error(call->sent));
}

}  // namespace ratchet::rpc
