#include "common/rpc/server_connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/base/gathering.h"
#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/message_limits.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/member_identity.h"

namespace ratchet::rpc {
namespace {

constexpr std::size_t kMostParts = 64;             // maximum of one system call
constexpr std::size_t kMostBytesAtOnce = 1 << 20;  // likewise: then other connections of the thread are served
constexpr int kWritesAtOnce = 4;                   // then the I/O thread continues, and the handler is free
constexpr Millis kLingerTime{1'000};               // for the client to read the last answer

constexpr std::size_t kScratchBytes = 64 << 10;
constexpr int kReadsPerTurn = 8;  // then other connections of the thread are served
constexpr std::size_t kMaxLingerBytes = 4 << 20;
constexpr std::size_t kSmallInput = 64 << 10;
constexpr std::size_t kMaxHeaderPeek = 64 << 10;
constexpr std::size_t kMostHeaderMessages = 1'000;  // inside the header of one request
constexpr std::size_t kClassifyBytes = 4 << 10;     // larger requests are not parsed on the I/O thread
constexpr std::uint32_t kAdminPriority = 100;

thread_local std::array<char, kScratchBytes> scratch;

// The reference that calls hold to their connection.
class ConnectionSink final : public AnswerSink {
 public:
  ConnectionSink(std::shared_ptr<AnswerGate> gate, std::weak_ptr<ServerConnection> connection)
      : gate_(std::move(gate)), connection_(std::move(connection)) {}
  void FinishCall(SplitFrame frame) override {
    gate_->WhileOpen([&] {
      if (const auto connection = connection_.lock()) connection->FinishCall(std::move(frame));
    });
  }
  void Cut() override {
    gate_->WhileOpen([&] {
      if (const auto connection = connection_.lock()) connection->Cut();
    });
  }
  bool Ended() const override {
    bool ended = true;
    gate_->WhileOpen([&] {
      if (const auto connection = connection_.lock()) ended = connection->ended();
    });
    return ended;
  }

 private:
  const std::shared_ptr<AnswerGate> gate_;
  const std::weak_ptr<ServerConnection> connection_;
};

}  // namespace

ServerConnection::ServerConnection(Tcp::socket socket, ServerShared& shared, std::uint64_t id, bool beyond)
    : socket_(std::move(socket)),
      shared_(shared),
      counters_(shared.counters),
      id_(id),
      beyond_(beyond),
      since_ms_(SystemClock().WallMillis()),
      max_unsent_(shared.options.max_unsent_bytes),
      pause_unsent_(shared.options.pause_unsent_bytes),
      max_calls_(shared.options.max_calls_per_connection),
      capture_(fmt::format("{}-{}", shared.options.name, id)),
      input_(shared.options.max_frame_bytes) {
  counters_->connections_open.fetch_add(1);
  if (beyond_) counters_->connections_beyond.fetch_add(1);
}

ServerConnection::~ServerConnection() {
  if (tls_ != nullptr) EndHandshake();
  if (kerberos_ != nullptr) LeaveLogin();
  shared_.connections.Remove(this);
  if (!counted_version_.empty()) shared_.versions.Remove(counted_version_);
  if (!counted_plain_.empty()) shared_.plain_peers.Remove(counted_plain_);
  if (member_.has_value()) shared_.options.member->Left(id_);
  ForgetInput();
  MutexLock lock(mutex_);
  EndSending();
  if (beyond_) counters_->connections_beyond.fetch_sub(1);
  counters_->connections_open.fetch_sub(1);
}

void ServerConnection::Start() {
  shared_.connections.Add(this);  // not before a shared_ptr owns it: others take one from the list
  sink_ = std::make_shared<ConnectionSink>(shared_.gate, weak_from_this());
  ErrorCode error;
  const auto peer = socket_.remote_endpoint(error);
  if (!error) peer_ = JoinHostPort(NumericAddress(peer.data(), static_cast<socklen_t>(peer.size())), peer.port());
  if (!error) socket_.non_blocking(true, error);
  ErrorCode ignored;  // only costs latency
  socket_.set_option(Tcp::no_delay(true), ignored);
  if (error) return Close();
  // Closes the connection on an error. The wait also keeps this object alive while the connection is paused.
  socket_.async_wait(Tcp::socket::wait_error, [self = shared_from_this()](ErrorCode) { self->Close(); });
  if (beyond_) {
    timer_ = std::make_unique<asio::steady_timer>(socket_.get_executor(), kProveWithin);
    timer_->async_wait([weak = weak_from_this()](ErrorCode cancelled) {
      const auto self = weak.lock();
      if (!cancelled && self != nullptr) self->CloseUnproven();
    });
  }
  WaitReadable();
}

void ServerConnection::CloseUnproven() {
  if (proven_.load() || phase_ == Phase::kClosed) return;
  counters_->connections_refused.fetch_add(1);
  Close();
}

void ServerConnection::WaitReadable() {
  if (reading_ || phase_ == Phase::kClosed || phase_ == Phase::kKerberosWork) return;
  reading_ = true;
  socket_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](ErrorCode error) {
    self->reading_ = false;
    if (error) return self->Close();
    self->OnReadable();
  });
}

void ServerConnection::OnReadable() {
  at_once_left_ = shared_.options.at_once_per_turn;
  for (int turn = 0; turn < kReadsPerTurn && phase_ != Phase::kClosed; ++turn) {
    ErrorCode error;
    const std::size_t count = socket_.read_some(asio::buffer(scratch), error);
    if (error == asio::error::would_block) break;
    if (error) return Close();
    if (phase_ == Phase::kLinger) {
      lingered_bytes_ += count;
      if (lingered_bytes_ > kMaxLingerBytes) return Close();
      continue;
    }
    const std::string_view bytes(scratch.data(), count);
    if (!(tls_ == nullptr ? TakePlain(bytes) : TakeSealed(bytes))) return;
    {
      // The answers that are given at once leave in one system call.
      std::optional<Gathering> gathering;
      if (at_once_left_ > 0 && phase_ == Phase::kRequests) gathering.emplace();
      Consume();
    }
    if (!AccountInput()) {
      Refuse(RemoteError(exception::kCallQueueTooBig, "too many unfinished requests; try again later"));
      ForgetInput();
      continue;
    }
    if (paused_.load() || phase_ == Phase::kKerberosWork) return;  // Resume or OnKerberos continues
    if (tls_ != nullptr && tls_->session->peer_ended()) return Close();
    if (count < scratch.size()) break;  // the socket is empty, or becomes readable again
  }
  WaitReadable();
}

// Returns false if the unfinished frames of all connections together take too much memory. Only connections that hold
// much are closed, so that one client's unfinished frames cost no other client its connection.
bool ServerConnection::AccountInput() {
  const std::size_t size = input_.size() + (Protects() ? kerberos_->stream->pending() : 0);
  counters_->input_bytes.fetch_add(size);
  const std::size_t sum = counters_->input_bytes.fetch_sub(accounted_input_) - accounted_input_;
  const bool grown = size > accounted_input_;
  accounted_input_ = size;
  return !grown || sum <= shared_.options.max_input_bytes || size <= kSmallInput;
}

void ServerConnection::ForgetInput() {
  counters_->input_bytes.fetch_sub(accounted_input_);
  accounted_input_ = 0;
  input_.Clear();
}

void ServerConnection::Consume() {
  for (bool more = true; more;) {
    switch (phase_) {
      case Phase::kPreamble: more = ConsumePreamble(); break;
      case Phase::kProof: more = ConsumeProof(); break;
      case Phase::kDigest: more = ConsumeDigest(); break;
      case Phase::kKerberos: more = ConsumeKerberos(); break;
      case Phase::kHeader: more = ConsumeHeader(); break;
      case Phase::kRequests: more = ConsumeRequest(); break;
      case Phase::kTooBig:
        RefuseTooBig();
        more = false;
        break;
      case Phase::kHandshake:
      case Phase::kKerberosWork:
      case Phase::kLinger:
      case Phase::kClosed: more = false; break;
    }
  }
}

bool ServerConnection::ConsumePreamble() {
  LimitSetup();
  if (shared_.options.tls != nullptr && tls_ == nullptr && !ChooseTransport()) return false;
  std::string bytes;
  if (!input_.CutBytes(kPreambleBytes, bytes)) return false;
  auto preamble = ReadPreamble(bytes);
  if (!preamble.ok()) {
    Refuse(preamble.error());
    return false;
  }
  switch (*preamble) {
    case Preamble::kHBase: phase_ = Phase::kHeader; return true;
    case Preamble::kMember: BeginProof(); return true;
    case Preamble::kDigest: BeginDigest(); return true;
    case Preamble::kKerberos: BeginKerberos(); return true;
    case Preamble::kSecurity: AnswerPrincipal(); return true;  // the client continues with "HBas"
    case Preamble::kRegistry: break;
  }
  if (beyond_) {
    CloseUnproven();  // a client's request
    return false;
  }
  const auto& cluster_id = shared_.options.cluster_id;
  const auto id = cluster_id ? cluster_id() : std::nullopt;
  if (!id.has_value()) {
    Refuse(RemoteError(exception::kFatalConnection, "Expected HEADER=HBas but received HEADER=Regi"));
    return false;
  }
  Send({ClusterIdFrame(*id), {}});
  Linger();
  return false;
}

bool ServerConnection::ConsumeHeader() {
  std::string bytes;
  const FrameBuffer::Cut cut = input_.Next(bytes, kMaxConnectionHeaderBytes);
  if (cut == FrameBuffer::Cut::kNothing) return false;
  if (cut != FrameBuffer::Cut::kFrame) {
    const std::string why = fmt::format("connection header of {} bytes", ReadBig32(input_.Peek()));
    Refuse(RemoteError(exception::kFatalConnection, why));
    return false;
  }
  auto facts = ReadConnectionHeader(bytes);
  if (!facts.ok()) {
    Refuse(facts.error());
    return false;
  }
  const auto service = shared_.services.find(facts->service);
  if (service == shared_.services.end()) {
    Refuse(RemoteError(exception::kUnknownService, facts->service));
    return false;
  }
  facts_ = std::move(*facts);
  if (beyond_ && !IsMember()) {
    CloseUnproven();
    return false;
  }
  if (!Identify()) return false;
  service_ = service->second;
  proven_ = true;
  counted_version_ = shared_.versions.Add(facts_.version);
  if (tls_ == nullptr && !IsMember()) counted_plain_ = shared_.plain_peers.Add(PeerHost());
  timer_.reset();
  phase_ = Phase::kRequests;
  if (tls_ == nullptr && shared_.options.tls != nullptr) WatchPlainText();
  return true;
}

bool ServerConnection::ConsumeRequest() {
  if (PauseIfOverLimit()) return false;
  std::string frame;
  switch (input_.Next(frame)) {
    case FrameBuffer::Cut::kNothing: return false;
    case FrameBuffer::Cut::kFrame: HandleFrame(std::move(frame)); return true;
    case FrameBuffer::Cut::kTooBig: phase_ = Phase::kTooBig; return true;
    case FrameBuffer::Cut::kBad: break;
  }
  Refuse(RemoteError(exception::kFatalConnection, "a frame with a negative length"));
  return false;
}

// Reads only the header, so that the answer can name the call; drops the rest.
void ServerConnection::RefuseTooBig() {
  std::string_view rest = input_.Peek();
  const std::uint32_t length = ReadBig32(rest);
  rest.remove_prefix(4);
  std::string_view bytes;
  hbase::pb::RequestHeader header;
  const bool whole = CutDelimited(rest, bytes);
  if (!whole && input_.size() < kMaxHeaderPeek) return;
  const Error error = RemoteError(exception::kRequestTooBig, fmt::format("request of {} bytes; at most {}", length,
                                                                         shared_.options.max_frame_bytes));
  if (!whole || !ParseMessage(bytes, header, kMostHeaderMessages).ok() || !header.has_call_id()) {
    return Refuse(error);
  }
  counters_->bad_connections.fetch_add(1);
  Answer(header.call_id(), error);
  Linger();
}

void ServerConnection::HandleFrame(std::string frame) {
  std::string_view rest = frame;
  std::string_view header_bytes;
  hbase::pb::RequestHeader header;
  if (!CutDelimited(rest, header_bytes) || !ParseMessage(header_bytes, header, kMostHeaderMessages).ok() ||
      !header.has_call_id()) {
    return Refuse(RemoteError(exception::kFatalConnection, "cannot parse a request header"));
  }
  if (!IdentityHolds()) return Close();  // a member, or a client with other rights, connects again
  counters_->calls_received.fetch_add(1, std::memory_order_relaxed);
  const Service::Entry* method = service_->Find(header.method_name());
  if (method == nullptr) {
    return Answer(header.call_id(),
                  RemoteError(kNoSuchMethod, "java.lang.UnsupportedOperationException: " + header.method_name()));
  }
  const auto acting = ActsFor(header);
  if (!acting.ok()) return Answer(header.call_id(), acting.error());
  if (method->need.members_only() && (acting->has_value() || !IsMember())) {
    counters_->calls_refused.fetch_add(1, std::memory_order_relaxed);
    return Answer(header.call_id(), RefuseStranger(header.method_name()));
  }
  std::string_view parameter;
  const std::size_t cells = header.cell_block_meta().length();
  const bool has_parameter = header.request_param() || !header.has_request_param();
  if (!has_parameter || !CutDelimited(rest, parameter) || rest.size() != cells) {
    return Answer(header.call_id(), RemoteError(kNoSuchMethod,
                                                "malformed request: no parameter, or a cell "
                                                "block of another length than announced"));
  }
  CallContext context = ContextOf(header, *acting);
  const auto record = acting->has_value() ? RecordOf(**acting) : record_;
  const bool recorded = record != nullptr && record->audit->Wants(context, method->effect == Effect::kChanges);
  const auto parameter_at = static_cast<std::size_t>(parameter.data() - frame.data());
  const std::size_t parameter_size = parameter.size();
  const std::size_t cells_at = frame.size() - cells;
  calls_.fetch_add(1);
  auto call = std::make_shared<CallState>(std::move(context), method, service_, std::move(frame), sink_, counters_);
  call->SetBody(parameter_at, parameter_size, cells_at);
  call->SetRecord(record, recorded);
  Admit(std::move(call), *method);
}

void ServerConnection::Admit(std::shared_ptr<CallState> call, const Service::Entry& method) {
  QueueClass queue = method.options.queue;
  if (queue == QueueClass::kData && call->context().priority >= kAdminPriority) queue = QueueClass::kAdmin;
  if (method.classify && (call->context().member || call->parameter_size() <= kClassifyBytes)) {
    if (!call->ParseRequest()) return;
    queue = method.classify(call->context(), call->request());
  }
  call->SetQueue(queue);
  if (queue == QueueClass::kData && AnswersAtOnce(call, method)) return;
  if (shared_.pool.Submit(queue, call)) return;
  counters_->calls_refused.fetch_add(1, std::memory_order_relaxed);
  call->Fail(RemoteError(exception::kCallQueueTooBig, "the queue of this server is full; try again later"));
}

// S141 (no waiting on I/O threads). Attempts that fail cost time, so their number falls while none succeeds.
bool ServerConnection::AnswersAtOnce(const std::shared_ptr<CallState>& call, const Service::Entry& method) {
  constexpr int kMostSkips = 64;
  if (!method.at_once || at_once_left_ <= 0) return false;
  if (at_once_skips_ > 0) {
    --at_once_skips_;
    return false;
  }
  --at_once_left_;
  const bool answered = CallState::RunAtOnce(call);
  at_once_pause_ = answered ? 0 : std::clamp(2 * at_once_pause_, 1, kMostSkips);
  at_once_skips_ = at_once_pause_;
  if (at_once_left_ == 0 || !answered) Gathering::End();  // handlers answer from here on, and must not wait
  return answered;
}

void ServerConnection::Answer(std::uint32_t call_id, const Error& error) {
  hbase::pb::ResponseHeader header;
  header.set_call_id(call_id);
  FillException(error, *header.mutable_exception());
  counters_->calls_answered.fetch_add(1, std::memory_order_relaxed);
  Send({EncodeResponse(header, nullptr, {}), {}});
}

// Sends the error to the client, then closes.
void ServerConnection::Refuse(const Error& error) {
  RATCHET_LOG(kDebug, "connection from {} refused: {}", peer_, error.message());
  counters_->bad_connections.fetch_add(1);
  Send({ConnectionExceptionFrame(error), {}});
  Linger();
}

// How a connection becomes one of a member of the cluster, S123 (only a proof makes a member). Before the proof is
// complete, a connection holds one unit of the proof and the bytes of one read.
void ServerConnection::BeginProof() {
  if (shared_.options.member == nullptr) {
    const Error none = RemoteError(exception::kBadAuth, "this process offers no proof of membership");
    return Refuse(none);
  }
  proof_.emplace(shared_.options.member->BeginServer(MemberBinding()));
  phase_ = Phase::kProof;
}

bool ServerConnection::ConsumeProof() {
  std::string unit;
  const FrameBuffer::Cut cut = input_.Next(unit, kMostMemberUnit);
  if (cut == FrameBuffer::Cut::kNothing) return false;
  if (cut != FrameBuffer::Cut::kFrame) {
    const std::string why = fmt::format("a unit of {} bytes in the member proof", ReadBig32(input_.Peek()));
    RefuseProof(Error(Code::kInvalidArgument, why));
    return false;
  }
  const auto reply = proof_->OnUnit(unit);
  if (!reply.ok()) {
    RefuseProof(reply.error());
    return false;
  }
  Send({ServerUnit(*reply), {}});
  if (!proof_->peer().has_value()) return true;
  member_ = proof_->peer();
  if (const auto& audit = shared_.options.audit; audit != nullptr)
    audit->Member(Audited(), member_->name.ToString(), {});
  proof_.reset();
  shared_.options.member->Joined(id_, member_->name);
  if (tls_ != nullptr) shared_.handshakes.NoteMember(tls_->address);
  RATCHET_LOG(kDebug, "connection from {}: {} {}", peer_, MemberRoleName(member_->role), member_->name.ToString());
  phase_ = Phase::kHeader;
  return true;
}

// The client gets the reason, and so does the log of this process: a member with another key is a mistake of an
// operator, and all others have no business here.
void ServerConnection::RefuseProof(const Error& error) {
  shared_.options.member->Refused(peer_, error.message());
  if (const auto& audit = shared_.options.audit; audit != nullptr) audit->Member(Audited(), {}, error.message());
  counters_->bad_connections.fetch_add(1);
  Send({ServerRefusal(exception::kAccessDenied, error.message()), {}});
  Linger();
}

bool ServerConnection::IsMember() const {
  const auto& own = shared_.options.member;
  const bool proven =
      own != nullptr && (member_.has_value() ? own->Holds(member_->key_id)
                                             : !facts_.cluster_key.empty() && own->TakesInClear(facts_.cluster_key));
  return proven || RATCHET_MUTANT("rpc.anybody_is_member");
}

void ServerConnection::FinishCall(SplitFrame frame) {
  if (!frame.empty()) Send(std::move(frame));
  calls_.fetch_sub(1);
  if (paused_.load() && !OverLimit()) {
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Resume(); });
  }
}

void ServerConnection::Cut() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Close(); });
}

// Any thread.
void ServerConnection::Send(SplitFrame frame) {
  const std::size_t bytes = frame.size();
  if (unsent_bytes_.load() + bytes > max_unsent_) return CutSlowReader();
  std::size_t total = 0;
  bool at_once = false;
  bool on_loop = false;
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    unsent_bytes_.fetch_add(bytes);
    total = counters_->unsent_bytes.fetch_add(bytes) + bytes;
    outbox_.push_back(std::move(frame.head));
    if (!frame.cells.empty()) outbox_.push_back(std::move(frame.cells));
    if (!std::exchange(writes_, true)) (lingers_ ? on_loop : at_once) = true;
  }
  if (at_once && !Gathering::Add([gate = shared_.gate, weak = weak_from_this()] {
        gate->WhileOpen([&weak] {
          if (const auto self = weak.lock()) self->WriteAtOnce();
        });
      }))
    WriteAtOnce();
  if (on_loop) asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Write(); });
  if (total > shared_.options.max_unsent_total_bytes && !RATCHET_MUTANT("rpc.bound_each_connection_only"))
    shared_.connections.CutLargest(counters_->unsent_bytes, shared_.options.max_unsent_total_bytes);
}

void ServerConnection::CutSlowReader() {
  {
    MutexLock lock(mutex_);
    if (!EndSending()) return;
  }
  RATCHET_LOG(kWarn, "connection from {} closed: it does not read its answers", peer_);
  counters_->bad_connections.fetch_add(1);
  Cut();
}

// From this call on the unsent answers of the connection no longer count, although sending them takes a moment.
bool ServerConnection::EndSending() {
  if (std::exchange(closed_, true)) return false;
  counters_->unsent_bytes.fetch_sub(unsent_bytes_.load());
  return true;
}

void ConnectionList::CutLargest(const std::atomic<std::size_t>& unsent_bytes, std::size_t limit) {
  std::vector<std::shared_ptr<ServerConnection>> held;  // a last reference must not be released under a lock
  std::shared_ptr<ServerConnection> largest;
  MutexLock cutting(cutting_);
  if (unsent_bytes.load() <= limit) return;
  {
    MutexLock lock(mutex_);
    for (ServerConnection* connection : connections_)
      if (connection->unsent_bytes() > 0)
        if (auto alive = connection->weak_from_this().lock()) held.push_back(std::move(alive));
  }
  for (const auto& connection : held)
    if (!largest || connection->unsent_bytes() > largest->unsent_bytes()) largest = connection;
  if (largest) largest->CutSlowReader();
}

// Makes one system call.
ServerConnection::Wrote ServerConnection::WriteSome() {
  std::array<iovec, kMostParts> parts{};
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (std::size_t i = written_parts_; i < writing_.size() && count < kMostParts && bytes < kMostBytesAtOnce; ++i) {
    const std::size_t from = i == written_parts_ ? written_of_part_ : 0;
    const std::size_t size = std::min(writing_[i].size() - from, kMostBytesAtOnce - bytes);
    parts[count++] = {writing_[i].data() + from, size};
    bytes += size;
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  ssize_t sent = 0;
  {
    const MutexLock lock(descriptor_);
    if (gone_) return Wrote::kBroken;
    do {
      sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Wrote::kNotNow : Wrote::kBroken;
  }
  auto left = static_cast<std::size_t>(sent);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = std::min(left, parts[i].iov_len);
    if (!Seals()) capture_.ToClient({static_cast<const char*>(parts[i].iov_base), size});
    left -= size;
    written_of_part_ += size;
    if (written_of_part_ < writing_[written_parts_].size()) break;
    ++written_parts_;
    written_of_part_ = 0;
  }
  const bool all = written_parts_ == writing_.size();
  if (all) {
    writing_.clear();
    written_parts_ = 0;
  }
  const MutexLock lock(mutex_);
  unsent_bytes_.fetch_sub(static_cast<std::size_t>(sent));
  if (!closed_) counters_->unsent_bytes.fetch_sub(static_cast<std::size_t>(sent));
  return all ? Wrote::kAll : Wrote::kSome;
}

// Any thread.
void ServerConnection::WriteAtOnce() {
  for (int turn = 0; turn < kWritesAtOnce; ++turn) {
    if (writing_.empty()) {
      const MutexLock lock(mutex_);
      if (lingers_) break;
      if (!HasWork()) {
        writes_ = false;
        return;
      }
    }
    if (Seals() && !SealSome()) break;
    const Wrote wrote = WriteSome();
    if (wrote == Wrote::kNotNow || wrote == Wrote::kBroken) break;
  }
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Write(); });
}

void ServerConnection::Write() {
  if (phase_ == Phase::kClosed) return;  // no byte is written from here on
  bool work = true;
  if (writing_.empty()) {
    const MutexLock lock(mutex_);
    work = HasWork();
    if (!work) writes_ = false;
  }
  if (work && Seals() && !SealSome()) return Close();
  if (!work) {
    if (phase_ == Phase::kLinger) {
      ErrorCode ignored;  // the peer may have closed already
      socket_.shutdown(Tcp::socket::shutdown_send, ignored);
    }
    return;
  }
  const Wrote wrote = WriteSome();
  if (wrote == Wrote::kBroken) return Close();
  if (paused_.load()) Resume();
  auto again = [self = shared_from_this()](ErrorCode error = {}) { error ? self->Close() : self->Write(); };
  if (wrote == Wrote::kNotNow)
    socket_.async_wait(Tcp::socket::wait_write, std::move(again));
  else
    asio::post(socket_.get_executor(), [again = std::move(again)] { again(); });
}

// Called before each frame is cut, and nowhere else: once paused, only Resume continues. The flag is set before the
// second look, so the thread that ends a call afterwards sees it and calls Resume.
bool ServerConnection::PauseIfOverLimit() {
  if (phase_ != Phase::kRequests || !OverLimit()) return false;
  paused_.store(true);
  if (OverLimit()) return true;
  paused_.store(false);
  return false;
}

void ServerConnection::Resume() {
  if (phase_ == Phase::kClosed || OverLimit() || !paused_.exchange(false)) return;
  Consume();  // frames that had arrived before the pause
  if (!paused_.load()) WaitReadable();
}

// A client that begins its introduction and does not finish it is closed.
void ServerConnection::LimitSetup() {
  if (timer_ == nullptr && input_.size() > 0) CloseUnlessSetUpWithin(shared_.options.setup_timeout);
}

void ServerConnection::CloseUnlessSetUpWithin(Millis patience) {
  timer_ = std::make_unique<asio::steady_timer>(socket_.get_executor(), patience);
  timer_->async_wait([weak = weak_from_this()](ErrorCode error) {
    const auto self = weak.lock();
    if (error || self == nullptr || self->phase_ == Phase::kRequests) return;
    self->counters_->bad_connections.fetch_add(1);
    self->Close();
  });
}

// Closes once everything is written and the client has had time to read it: closing at once would turn unread input
// into a reset that destroys the answer.
void ServerConnection::Linger() {
  if (phase_ == Phase::kClosed || phase_ == Phase::kLinger) return;
  phase_ = Phase::kLinger;
  timer_ = std::make_unique<asio::steady_timer>(socket_.get_executor(), kLingerTime);
  timer_->async_wait([weak = weak_from_this()](ErrorCode error) {
    const auto self = weak.lock();
    if (!error && self != nullptr) self->Close();
  });
  bool idle = false;
  {
    MutexLock lock(mutex_);
    lingers_ = true;
    idle = !std::exchange(writes_, true);
  }
  if (idle) Write();
}

void ServerConnection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  timer_.reset();
  if (tls_ != nullptr) EndHandshake();
  if (kerberos_ != nullptr) LeaveLogin();
  std::vector<std::string> dropped;
  {
    MutexLock lock(mutex_);
    EndSending();
    dropped.swap(outbox_);
  }
  if (service_ != nullptr && shared_.options.connection_ended) shared_.options.connection_ended(id_);
  const MutexLock lock(descriptor_);
  gone_ = true;
  ErrorCode ignored;  // there is no remedy
  socket_.close(ignored);
}

}  // namespace ratchet::rpc
