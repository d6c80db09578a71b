#include "common/rpc/client_channel.h"

#include <cstdint>
#include <future>
#include <utility>

#include <google/protobuf/message.h>

#include "common/base/log.h"
#include "common/model/message_limits.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/acting_for.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/handshake.h"
#include "common/rpc/member_identity.h"
#include "common/tls/process_tls.h"

namespace ratchet::rpc {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kMaxGather = 64;
constexpr char kNoProofInTime[] = "no proof within the connect time-out";
constexpr char kNoTlsInTime[] = "no TLS handshake within the connect time-out";

constexpr std::uint32_t kMaxCallId = INT32_MAX;  // ids are signed in Java peers

constexpr std::size_t kCountedAbove = 1u << 20;            // bytes; a smaller answer cannot become large in memory
constexpr std::size_t kMostParsed = std::size_t{2} << 30;  // maximum memory of one answer, in bytes

// Servers of other clusters answer too.
bool FitsParsed(const google::protobuf::MessageLite& response, std::string_view bytes) {
  const auto* whole = dynamic_cast<const google::protobuf::Message*>(&response);
  if (bytes.size() <= kCountedAbove || whole == nullptr) return true;
  return CountMessages(ShapeOf(*whole->GetDescriptor()), bytes, SIZE_MAX).bytes <= kMostParsed;
}

Error StoppedError(const Endpoint& endpoint) {
  return {Code::kAborted, fmt::format("the channel to {} was stopped", endpoint.ToString())};
}

}  // namespace

ClientChannel::ClientChannel(std::shared_ptr<IoThreads> io, const ChannelPoolOptions& options, std::string service,
                             Endpoint endpoint)
    : io_(std::move(io)),
      loop_(io_->Next()),
      options_(options),
      service_(std::move(service)),
      endpoint_(std::move(endpoint)),
      connect_timer_(loop_),
      deadline_timer_(loop_),
      prng_(RandomSeed()),
      capture_(fmt::format("{}-{}-{}-{}", options_.name, service_, endpoint_.host, endpoint_.port)),
      input_(std::in_place, options_.max_frame_bytes) {}

void ClientChannel::CallRaw(std::string_view method, const google::protobuf::MessageLite& request,
                            std::shared_ptr<google::protobuf::MessageLite> response, CallOptions options,
                            RawDone done) {
  if (!request.IsInitialized()) {
    return done(Error(Code::kInvalidArgument, MissingFields(request)));
  }
  auto call = std::make_shared<PendingCall>();
  call->id = next_id_.fetch_add(1, std::memory_order_relaxed) & kMaxCallId;
  call->method = method;
  call->response = std::move(response);
  call->timeout = std::max(options.timeout, Millis(1));
  call->deadline = SystemClock().Now() + call->timeout;
  hbase::pb::RequestHeader header;
  header.set_call_id(call->id);
  header.set_method_name(call->method);
  header.set_request_param(true);
  if (options.priority != 0) header.set_priority(options.priority);
  header.set_timeout(static_cast<std::uint32_t>(std::min<std::int64_t>(call->timeout.count(), INT32_MAX)));
  if (!options.acts_for.empty()) {
    auto& attribute = *header.add_attribute();
    attribute.set_name(std::string(kActsForAttribute));
    attribute.set_value(std::move(options.acts_for));
  }
  call->frame = EncodeRequest(header, request, options.cells);
  const std::size_t bytes = call->frame.size();
  if (unsent_bytes_.fetch_add(bytes) + bytes > options_.max_unsent_bytes) {
    unsent_bytes_.fetch_sub(bytes);
    return done(Error(Code::kResourceExhausted, fmt::format("too many bytes wait for {}", endpoint_.ToString()),
                      std::string(kNotSent)));
  }
  call->done = std::move(done);
  bool stopped = false;
  {
    MutexLock lock(mutex_);
    stopped = stopped_;
    if (!stopped) {
      inbox_.push_back(call);
      if (std::exchange(drain_scheduled_, true)) return;
    }
  }
  if (stopped) {
    unsent_bytes_.fetch_sub(bytes);
    return call->done(StoppedError(endpoint_));
  }
  asio::post(loop_, [self = shared_from_this()] { self->DrainInbox(); });
}

void ClientChannel::DrainInbox() {
  std::vector<std::shared_ptr<PendingCall>> calls;
  {
    MutexLock lock(mutex_);
    calls.swap(inbox_);
    drain_scheduled_ = false;
  }
  for (auto& call : calls) Begin(std::move(call));
  Write();
  ArmTimer();
}

void ClientChannel::Begin(std::shared_ptr<PendingCall> call) {
  pending_[call->id] = call;
  deadlines_.emplace(call->deadline, call->id);
  if (state_ == State::kStopped) return Complete(call, StoppedError(endpoint_));
  if (state_ == State::kIdle) {
    if (SystemClock().Now() < retry_at_) {
      return Complete(call, Error(Code::kUnavailable,
                                  fmt::format("not connected to {}, the last attempt failed a moment ago: {}",
                                              endpoint_.ToString(), last_failure_),
                                  std::string(kNotSent)));
    }
    Connect();
  }
  const TransportAction action = AskHook(true, call->method);
  if (action.drop) {  // its deadline ends it, as if the network had lost it
    call->lost = true;
    return;
  }
  if (action.delay > Millis(0)) {
    return After(action.delay, [this, call] {
      if (!pending_.contains(call->id)) return;
      Enqueue(call);
      Write();
    });
  }
  Enqueue(call);
}

void ClientChannel::Enqueue(const std::shared_ptr<PendingCall>& call) { outbox_.push_back(call); }

TransportAction ClientChannel::AskHook(bool is_request, const std::string& method) const {
  if (!options_.hook) return {};
  return options_.hook(TransportEvent{is_request, endpoint_, service_, method});
}

void ClientChannel::HandleFrame(const std::string& frame) {
  std::string_view rest = frame;
  std::string_view bytes;
  hbase::pb::ResponseHeader header;
  if (!CutDelimited(rest, bytes) || !ParseMessage(bytes, header).ok() || !header.has_call_id()) {
    return Disconnected("malformed answer");
  }
  if (header.call_id() == kConnectionCallId) return Refused(ErrorFrom(header.exception()));
  answered_ = true;
  const auto found = pending_.find(header.call_id());
  if (found == pending_.end()) return;  // its deadline has passed
  const std::shared_ptr<PendingCall> call = found->second;
  Result<std::string> outcome = std::string();
  if (header.has_exception()) {
    outcome = ErrorFrom(header.exception());
  } else if (!CutDelimited(rest, bytes) || !FitsParsed(*call->response, bytes) ||
             !call->response->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
             !call->response->IsInitialized() || rest.size() != header.cell_block_meta().length()) {
    outcome =
        Error(Code::kInternal, fmt::format("cannot parse the answer of {} to {}", endpoint_.ToString(), call->method));
  } else {
    outcome = std::string(rest);
  }
  const TransportAction action = AskHook(false, call->method);
  if (action.drop) return;
  if (action.delay > Millis(0)) {
    return After(action.delay, [this, id = call->id, outcome] { Deliver(id, outcome); });
  }
  Deliver(call->id, std::move(outcome));
}

// The server reported why it refuses this connection. If it refused the introduction, no call was executed.
void ClientChannel::Refused(const Error& error) {
  const bool before_any_call = IsFatalForConnection(error.remote_class()) && !answered_;
  if (!before_any_call) return Disconnected(error.message());
  state_ = State::kIdle;
  CloseSocket();
  FailAll([&](bool) { return error.Annotate("server " + endpoint_.ToString()); });
}

void ClientChannel::Deliver(std::uint32_t call_id, Result<std::string> cells) {
  const auto found = pending_.find(call_id);
  if (found == pending_.end()) return;
  const std::shared_ptr<PendingCall> call = found->second;
  Complete(call, std::move(cells));
}

void ClientChannel::Complete(const std::shared_ptr<PendingCall>& call, Result<std::string> cells) {
  pending_.erase(call->id);
  deadlines_.erase({call->deadline, call->id});
  if (!call->sent) unsent_bytes_.fetch_sub(call->frame.size());
  call->sent = true;  // Write skips it
  call->frame.clear();
  const RawDone done = std::move(call->done);
  done(std::move(cells));
}

void ClientChannel::Stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  // The loop may be stopped already; then no code of this channel runs on it.
  if (loop_.stopped()) return;
  std::promise<void> done;
  asio::post(loop_, [self = shared_from_this(), &done] {
    self->StopOnLoop();
    // After the handlers that Stop has cancelled, so that no callback of this channel is left when the caller
    // continues.
    asio::post(self->loop_, [&done] { done.set_value(); });
  });
  done.get_future().wait();
}

void ClientChannel::StopOnLoop() {
  if (state_ == State::kStopped) return;
  DrainInbox();
  state_ = State::kStopped;
  CloseSocket();
  deadline_timer_.cancel();
  FailAll([&](bool) { return StoppedError(endpoint_); });
}

void ClientChannel::Disconnect() {
  asio::post(loop_, [self = shared_from_this()] { self->Disconnected("disconnected by this process"); });
}

void ClientChannel::After(Millis delay, std::function<void()> action) {
  auto timer = std::make_shared<asio::steady_timer>(loop_, delay);
  timer->async_wait([self = shared_from_this(), timer, action = std::move(action)](ErrorCode error) {
    if (!error && self->state_ != State::kStopped) action();
  });
}

void ClientChannel::ArmTimer() {
  if (deadlines_.empty() || state_ == State::kStopped) return;
  const TimePoint next = deadlines_.begin()->first;
  if (next >= armed_for_) return;
  armed_for_ = next;
  deadline_timer_.expires_at(next);
  deadline_timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error) self->OnTimer();
  });
}

Error ClientChannel::DeadlineError(const PendingCall& call) const {
  if (!call.sent && !call.lost) {
    const bool connected = state_ == State::kConnected;
    return {
        Code::kUnavailable,
        fmt::format("{} {} within {} ms; {} was not sent{}",
                    connected ? "the connection takes no bytes to" : "no connection to", endpoint_.ToString(),
                    call.timeout.count(), call.method, connected || last_failure_.empty() ? "" : ": " + last_failure_),
        std::string(kNotSent)};
  }
  return {Code::kTimeout,
          fmt::format("no answer from {} to {} within {} ms; the outcome is unknown", endpoint_.ToString(), call.method,
                      call.timeout.count()),
          std::string(kCallTimeout)};
}

void ClientChannel::OnTimer() {
  armed_for_ = TimePoint::max();
  const TimePoint now = SystemClock().Now();
  bool silent = false;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const std::shared_ptr<PendingCall> call = pending_.at(deadlines_.begin()->second);
    silent = silent || (call->sent && now - std::max(call->sent_at, last_received_) >= options_.silence_timeout);
    Complete(call, DeadlineError(*call));
  }
  if (silent && state_ == State::kConnected) Disconnected("no data received within the silence time-out");
  ArmTimer();
}

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
  if (state_ == State::kEncrypting) return NotConnected(kNoTlsInTime);
  if (state_ != State::kConnecting) return;
  if (error) return NotConnected(error.message());
  ErrorCode ignored;  // only costs latency
  socket_->set_option(Tcp::no_delay(true), ignored);
  if (options_.tls != nullptr && options_.tls->connects())
    BeginTls();
  else
    Introduce();
  if (connection_ == attempt && socket_.has_value()) Read();
}

// The first bytes inside an encrypted connection are those of one in plain text.
void ClientChannel::Introduce() {
  const std::string shown = std::exchange(key_in_clear_, {});
  if (options_.member != nullptr && shown.empty()) return BeginProof();
  outbox_hello_ = ClientHello(options_.user, service_, options_.cell_blocks, shown);
  Ready();
}

// The handshake runs on this I/O thread: a process makes few connections. There is no way back to plain text, whatever
// the server sends.
void ClientChannel::BeginTls() {
  state_ = State::kEncrypting;
  tls_ = options_.tls->context()->Connect(endpoint_.host);
  if (const Status begun = tls_->Begin(); !begun.ok()) return NotConnected(begun.error().message());
  Write();
}

// Returns false if the connection has ended.
bool ClientChannel::TakeSealed(std::string_view bytes) {
  const std::uint64_t number = connection_;
  std::string plain;
  const Status fed = tls_->Feed(bytes, plain);
  if (!fed.ok()) {
    std::string alert;
    IgnoreResult(tls_->Seal({}, alert), "the connection ends in any case");
    ErrorCode ignored;  // likewise
    if (writing_.empty() && !alert.empty()) socket_->write_some(asio::buffer(alert), ignored);
    // Not for a connection that just ends, because the process may have died.
    if (state_ == State::kEncrypting && options_.member != nullptr)
      options_.member->NotEncrypted(endpoint_.ToString(), fed.error().message());
    OnReadError(fed.error().message());
    return false;
  }
  capture_.ToClient(plain);
  input_->Append(plain);
  if (state_ == State::kEncrypting && tls_->established()) Introduce();
  if (connection_ == number) Write();
  return connection_ == number;
}

void ClientChannel::SealWriting() {
  std::vector<std::string_view> parts;
  for (const std::string& frame : writing_) {
    capture_.ToServer(frame);
    parts.emplace_back(frame);
  }
  std::string sealed;
  // After an error the connection has failed already, or fails at its next read.
  IgnoreResult(tls_->Seal(parts, sealed), "see above");
  writing_.clear();
  if (!sealed.empty()) writing_.push_back(std::move(sealed));
}

// A client that the server refuses for its certificate learns it at its first read, after its own handshake has ended.
void ClientChannel::OnReadError(const std::string& why) {
  if (state_ == State::kEncrypting)
    return NotConnected(fmt::format("no TLS connection (is --tls off there?): {}", why));
  if (tls_ != nullptr && !answered_) return NotConnected(why);
  Disconnected(why);
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
  const bool open = connected || state_ == State::kProving || state_ == State::kEncrypting;
  if (!open || !writing_.empty()) return;
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
  if (tls_ != nullptr) SealWriting();
  if (writing_.empty()) return;
  std::vector<asio::const_buffer> buffers;
  for (const std::string& frame : writing_) {
    if (tls_ == nullptr) capture_.ToServer(frame);
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
                             if (error) return self->OnReadError(error.message());
                             self->last_received_ = SystemClock().Now();
                             self->OnBytes({self->read_buffer_.data(), count});
                             if (self->connection_ == number && self->socket_.has_value()) self->Read();
                           });
}

void ClientChannel::OnBytes(std::string_view bytes) {
  if (tls_ == nullptr) {
    capture_.ToClient(bytes);
    input_->Append(bytes);
  } else if (!TakeSealed(bytes)) {
    return;
  }
  const std::uint64_t number = connection_;
  if (state_ == State::kProving) ConsumeProof();
  ConsumeFrames();
  if (connection_ == number && tls_ != nullptr && tls_->peer_ended()) OnReadError("closed by the server");
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
  const bool established = std::exchange(state_, State::kIdle) == State::kConnected;
  CloseSocket();
  if (established && options_.connection_ended) options_.connection_ended(endpoint_);
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
  tls_.reset();
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

// A member's new connection: the server proves that it is the wanted member of the cluster, then this process proves
// itself, S123 (only a proof makes a member). Calls wait until both are done. I/O thread only.
void ClientChannel::BeginProof() {
  const auto proof = options_.member->BeginClient({endpoint_.host, endpoint_.port},
                                                  tls_ == nullptr ? std::string() : tls_->MemberBinding());
  if (!proof.has_value()) return NotConnected("this process does not have its name yet");
  proof_.emplace(*proof);
  state_ = State::kProving;
  outbox_hello_ = MemberPreamble() + ClientUnit(proof_->hello());
  Write();
}

void ClientChannel::ConsumeProof() {
  using Kind = ServerItem::Kind;
  const std::uint64_t number = connection_;
  while (connection_ == number && state_ == State::kProving) {
    const ServerItem item = ReadServerItem(input_->Peek());
    std::string cut;
    switch (item.kind) {
      case Kind::kIncomplete: return;
      case Kind::kFrame: return OnServerFrame();
      case Kind::kBad: return NotProven("its response is not one of the member proof");
      case Kind::kRefusal: return NotProven(fmt::format("it refuses this process: {}", item.text));
      case Kind::kUnit: break;
    }
    static_cast<void>(input_->CutBytes(item.size, cut));
    OnServerUnit(item.text);
  }
}

void ClientChannel::OnServerUnit(const std::string& unit) {
  if (!proof_sent_) {
    const auto mac = proof_->OnAnswer(unit);
    if (!mac.ok()) return NotProven(mac.error().message());
    proof_sent_ = true;
    outbox_hello_ += ClientUnit(*mac);
    return Write();
  }
  if (!unit.empty()) return NotProven("its last unit of the member proof is not empty");
  proof_.reset();
  options_.member->Proven(endpoint_.ToString());
  outbox_hello_ += ConnectionHeaderUnit(options_.user, service_, options_.cell_blocks);
  Ready();
}

// A server of a version before 0.3 refuses the authentication. A false server that wants to see the key does so too;
// therefore the policy decides.
void ClientChannel::OnServerFrame() {
  std::string frame;
  if (input_->Next(frame) == FrameBuffer::Cut::kNothing) return;
  std::string_view rest = frame;
  std::string_view bytes;
  hbase::pb::ResponseHeader header;
  const bool parsed = CutDelimited(rest, bytes) && ParseMessage(bytes, header).ok() && header.has_exception();
  if (!parsed || header.exception().exception_class_name() != exception::kBadAuth)
    return NotProven("its response is not one of the member proof");
  std::string key = proof_sent_ ? std::string() : options_.member->KeyInClear();
  if (key.empty()) return NotProven("no such authentication: its version is before 0.3, or it is another program");
  options_.member->ShownInClear(endpoint_.ToString());
  key_in_clear_ = std::move(key);
  ShowKeyInClear();
}

// Connects again; calls that wait are kept.
void ClientChannel::ShowKeyInClear() {
  auto waiting = std::exchange(outbox_, {});
  CloseSocket();
  outbox_ = std::move(waiting);
  Connect();
}

void ClientChannel::NotProven(const std::string& why) {
  options_.member->NotProven(endpoint_.ToString(), why);
  NotConnected(why);
}

}  // namespace ratchet::rpc
