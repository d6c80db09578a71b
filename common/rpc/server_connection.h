// One client's connection, on one I/O thread for life. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/rpc/asio_types.h"
#include "common/rpc/call_state.h"
#include "common/rpc/capture.h"
#include "common/rpc/frame.h"
#include "common/rpc/handler_pool.h"
#include "common/rpc/handshake.h"

namespace ratchet::rpc {

// Lets answers through until the server stops. Answers hold it shared while they touch a connection, so after Close no
// other thread holds one, and the event loops may go.
class AnswerGate {
 public:
  void Close() {
    WriterLock lock(mutex_);
    closed_ = true;
  }
  template <class Action>
  void WhileOpen(Action action) {
    ReaderLock lock(mutex_);
    if (!closed_) action();
  }

 private:
  SharedMutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
};

class ServerConnection;

// Beyond the limit of connections there is room for members of the cluster only (S87): for so many, and so long they
// have to show the key.
inline constexpr std::size_t kMemberConnections = 64;
inline constexpr Millis kProveWithin{2'000};

// The connections, to find the one that holds the most. Thread-safe.
class ConnectionList {
 public:
  void Add(ServerConnection* connection) {
    MutexLock lock(mutex_);
    connections_.insert(connection);
  }
  void Remove(ServerConnection* connection) {
    MutexLock lock(mutex_);
    connections_.erase(connection);
  }
  // Closes the one that holds the most, if all together still hold more than `limit`: one after the other, so that two
  // threads that have met the limit at the same moment do not close two.
  void CutLargest(const std::atomic<std::size_t>& unsent_bytes, std::size_t limit);

 private:
  Mutex cutting_;  // before mutex_
  Mutex mutex_;    // before a connection's own
  std::set<ServerConnection*> connections_ GUARDED_BY(mutex_);
};

// What all connections of a server share. Constant after Start, apart from what is thread-safe by itself.
struct ServerShared {
  explicit ServerShared(ServerOptions server_options) : options(std::move(server_options)), pool(options) {
    counters->watch = options.watch;
  }
  const ServerOptions options;
  const std::shared_ptr<AnswerGate> gate = std::make_shared<AnswerGate>();
  std::map<std::string, std::shared_ptr<const Service>, std::less<>> services;
  std::shared_ptr<ServerCounters> counters = std::make_shared<ServerCounters>();
  ConnectionList connections;
  HandlerPool pool;
};

// Bytes are read into a scratch buffer of the thread, so an idle connection holds none. All members are touched on the
// I/O thread only, except the outbox, the counters beside it and what is being written.
//
// The thread that brings an answer writes it, and what others have brought meanwhile, unless one is writing already. It
// never waits: what the socket does not take at once is left to the I/O thread.
class ServerConnection final : public std::enable_shared_from_this<ServerConnection> {
 public:
  // `shared` must outlive the I/O threads. `beyond`: as many connections are open as the server takes, so that only a
  // member's stays.
  ServerConnection(Tcp::socket socket, ServerShared& shared, std::uint64_t id, bool beyond);
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  [[nodiscard]] Tcp::socket::executor_type executor() { return socket_.get_executor(); }
  void Start();  // on its I/O thread
  // Of one beyond the limit: a member has not shown itself yet. From any thread.
  [[nodiscard]] bool unproven() const { return beyond_ && !proven_.load(); }
  // On its I/O thread: closes it if it still is.
  void CloseUnproven();
  // From any thread, through the sink.
  void FinishCall(SplitFrame frame);
  void Cut();
  // Because of the answers that its client does not read.
  void CutSlowReader();
  // Of answers; zero when it is being closed.
  [[nodiscard]] std::size_t unsent_bytes() {
    MutexLock lock(mutex_);
    return closed_ ? 0 : unsent_bytes_.load();
  }

 private:
  enum class Phase : std::uint8_t { kPreamble, kHeader, kRequests, kTooBig, kLinger, kClosed };

  void WaitReadable();
  void OnReadable();
  void Consume();
  [[nodiscard]] bool ConsumePreamble();
  [[nodiscard]] bool ConsumeHeader();
  [[nodiscard]] bool ConsumeRequest();
  void RefuseTooBig();
  void HandleFrame(std::string frame);
  void Admit(std::shared_ptr<CallState> call, const Service::Entry& method);
  [[nodiscard]] bool IsMember() const;
  void Answer(std::uint32_t call_id, const Error& error);
  void Refuse(const Error& error);
  void Send(SplitFrame frame);
  // False: it had ended before.
  bool EndSending() REQUIRES(mutex_);
  // The three below: by the one thread at a time that writes, which holds writes_.
  enum class Wrote : std::uint8_t { kAll, kSome, kNotNow, kBroken };
  [[nodiscard]] Wrote WriteSome();
  void WriteAtOnce();
  void Write();  // on the I/O thread
  [[nodiscard]] bool OverLimit() const { return calls_.load() >= max_calls_ || unsent_bytes_.load() >= pause_unsent_; }
  [[nodiscard]] bool PauseIfOverLimit();
  [[nodiscard]] bool AccountInput();
  void ForgetInput();
  void Resume();
  void LimitSetup();
  void Linger();
  void Close();

  Tcp::socket socket_;
  ServerShared& shared_;
  const std::shared_ptr<ServerCounters> counters_;
  const std::uint64_t id_;
  const bool beyond_;
  std::atomic<bool> proven_{false};
  const std::size_t max_unsent_;
  const std::size_t pause_unsent_;
  const std::size_t max_calls_;
  Capture capture_;
  std::string peer_;
  Phase phase_ = Phase::kPreamble;
  FrameBuffer input_;
  std::size_t accounted_input_ = 0;  // what of it is in the server's sum
  ConnectionFacts facts_;
  std::shared_ptr<const Service> service_;
  std::shared_ptr<AnswerSink> sink_;
  std::unique_ptr<asio::steady_timer> timer_;  // while setting up and while lingering
  bool reading_ = false;
  std::size_t lingered_bytes_ = 0;

  // Of the thread that writes: taken from the outbox, and how much of it is written.
  std::vector<std::string> writing_;
  std::size_t written_parts_ = 0;
  std::size_t written_of_part_ = 0;
  Mutex descriptor_;  // before mutex_: while other threads than the I/O thread use the socket
  bool gone_ GUARDED_BY(descriptor_) = false;

  std::atomic<std::size_t> calls_{0};         // in flight
  std::atomic<std::size_t> unsent_bytes_{0};  // outbox and what is being written
  std::atomic<bool> paused_{false};           // not reading until calls or bytes have gone down
  Mutex mutex_;
  std::vector<std::string> outbox_ GUARDED_BY(mutex_);
  bool writes_ GUARDED_BY(mutex_) = false;   // a thread writes, or the I/O thread is called to
  bool lingers_ GUARDED_BY(mutex_) = false;  // the I/O thread has the last word
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::rpc
