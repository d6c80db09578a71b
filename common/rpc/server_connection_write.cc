// The writing and closing half of a connection.
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {
namespace {

constexpr std::size_t kMostParts = 64;             // maximum of one system call
constexpr std::size_t kMostBytesAtOnce = 1 << 20;  // likewise: then other connections of the thread are served
constexpr int kWritesAtOnce = 4;                   // then the I/O thread continues, and the handler is free
constexpr Millis kLingerTime{1'000};               // for the client to read the last answer

}  // namespace

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
  if (at_once) WriteAtOnce();
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
    capture_.ToClient({static_cast<const char*>(parts[i].iov_base), size});
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
      if (outbox_.empty()) {
        writes_ = false;
        return;
      }
      writing_.swap(outbox_);
    }
    const Wrote wrote = WriteSome();
    if (wrote == Wrote::kNotNow || wrote == Wrote::kBroken) break;
  }
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Write(); });
}

void ServerConnection::Write() {
  if (phase_ == Phase::kClosed) return;  // no byte is written from here on
  if (writing_.empty()) {
    const MutexLock lock(mutex_);
    if (outbox_.empty())
      writes_ = false;
    else
      writing_.swap(outbox_);
  }
  if (writing_.empty()) {
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
  if (timer_ != nullptr || input_.size() == 0) return;
  timer_ = std::make_unique<asio::steady_timer>(socket_.get_executor(), shared_.options.setup_timeout);
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
