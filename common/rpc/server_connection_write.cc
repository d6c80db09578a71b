// The writing and closing half of a connection.
#include <utility>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {
namespace {

constexpr Millis kLingerTime{1'000};  // for the client to read the last answer

}  // namespace

void ServerConnection::FinishCall(std::string frame) {
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
void ServerConnection::Send(std::string frame) {
  const std::size_t bytes = frame.size();
  if (unsent_bytes_.load() + bytes > max_unsent_) return CutSlowReader();
  std::size_t total = 0;
  bool schedule = false;
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    unsent_bytes_.fetch_add(bytes);
    total = counters_->unsent_bytes.fetch_add(bytes) + bytes;
    outbox_.push_back(std::move(frame));
    schedule = !std::exchange(write_scheduled_, true);
  }
  if (schedule) asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Write(); });
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

// From here on its answers do not count any more, although they take a moment to go.
bool ServerConnection::EndSending() {
  if (std::exchange(closed_, true)) return false;
  counters_->unsent_bytes.fetch_sub(unsent_bytes_.load());
  return true;
}

void ConnectionList::CutLargest(const std::atomic<std::size_t>& unsent_bytes, std::size_t limit) {
  std::vector<std::shared_ptr<ServerConnection>> held;  // a last reference must not go under a lock
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

void ServerConnection::Write() {
  if (phase_ == Phase::kClosed || !writing_.empty()) return;  // OnWritten goes on
  {
    MutexLock lock(mutex_);
    if (outbox_.empty()) {
      write_scheduled_ = false;
    } else {
      writing_.swap(outbox_);
    }
  }
  if (writing_.empty()) {
    if (phase_ == Phase::kLinger) {
      ErrorCode ignored;  // the peer may have closed already
      socket_.shutdown(Tcp::socket::shutdown_send, ignored);
    }
    return;
  }
  std::vector<asio::const_buffer> buffers;
  writing_bytes_ = 0;
  for (const std::string& frame : writing_) {
    capture_.ToClient(frame);
    writing_bytes_ += frame.size();
    buffers.emplace_back(frame.data(), frame.size());
  }
  asio::async_write(socket_, buffers,
                    [self = shared_from_this()](ErrorCode error, std::size_t) { self->OnWritten(error); });
}

void ServerConnection::OnWritten(ErrorCode error) {
  writing_.clear();
  {
    MutexLock lock(mutex_);
    unsent_bytes_.fetch_sub(writing_bytes_);
    if (!closed_) counters_->unsent_bytes.fetch_sub(writing_bytes_);
  }
  if (error) return Close();
  if (paused_.load()) Resume();
  Write();
}

// Asked before each frame is cut, and nowhere else: once paused, only Resume goes on. The flag is set before the second
// look, so the thread that ends a call afterwards sees it and calls for Resume.
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

// A client that starts to speak and does not finish its introduction is cut off.
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

// Closes once everything is written and the client has had a chance to read it: closing at once would let unread input
// turn into a reset that destroys the answer.
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
    idle = !write_scheduled_;
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
  ErrorCode ignored;  // nothing can be done about it
  socket_.close(ignored);
}

}  // namespace ratchet::rpc
