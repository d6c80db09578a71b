#include "common/rpc/client_channel.h"

#include <google/protobuf/message.h>

#include <cstdint>
#include <future>
#include <utility>

#include "common/base/log.h"
#include "common/model/message_limits.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/exceptions.h"

namespace ratchet::rpc {
namespace {

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

}  // namespace ratchet::rpc
