// One client's connection, on one I/O thread for life. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/rpc/acting_for.h"
#include "common/rpc/asio_types.h"
#include "common/rpc/call_state.h"
#include "common/rpc/caller_rules.h"
#include "common/rpc/capture.h"
#include "common/rpc/client_versions.h"
#include "common/rpc/connections.h"
#include "common/rpc/digest_sasl.h"
#include "common/rpc/frame.h"
#include "common/rpc/handler_pool.h"
#include "common/rpc/handshake.h"
#include "common/rpc/kerberos_state.h"
#include "common/rpc/member_proof.h"
#include "common/rpc/tls_handshakes.h"
#include "common/rpc/token_rules.h"
#include "common/tls/tls_session.h"

namespace ratchet::rpc {

// Lets answers pass until the server stops. Answers hold it shared while they use a connection. So after Close no other
// thread uses a connection, and the event loops may be destroyed.
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

// Beyond the limit of connections there is room for members of the cluster only, S87 (reserved connections for
// members): the number of places, and the time to prove membership.
inline constexpr std::size_t kMemberConnections = 64;
inline constexpr Millis kProveWithin{2'000};

// All connections that have started, to list them, and to find the one that holds the most. Thread-safe.
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
  // Those that are not being destroyed. A caller must not release the last reference under a lock.
  [[nodiscard]] std::vector<std::shared_ptr<ServerConnection>> All();
  // Closes the connection that holds the most, if all together still hold more than `limit`. Runs one at a time, so
  // that two threads that reach the limit at the same moment do not close two.
  void CutLargest(const std::atomic<std::size_t>& unsent_bytes, std::size_t limit);

 private:
  Mutex cutting_;  // before mutex_
  Mutex mutex_;    // before a connection's own
  std::set<ServerConnection*> connections_ GUARDED_BY(mutex_);
};

// The state that all connections of a server share. Constant after Start, except members that are thread-safe
// themselves.
struct ServerShared {
  explicit ServerShared(ServerOptions server_options)
      : options(std::move(server_options)), pool(options), handshakes(options.name) {
    counters->watch = options.watch;
    counters->most_messages = options.max_request_messages;
    counters->judge = options.judge;
  }
  const ServerOptions options;
  const std::shared_ptr<AnswerGate> gate = std::make_shared<AnswerGate>();
  std::map<std::string, std::shared_ptr<const Service>, std::less<>> services;
  std::shared_ptr<ServerCounters> counters = std::make_shared<ServerCounters>();
  ConnectionList connections;
  ClientVersions versions;
  ClientVersions plain_peers;  // connections of clients without TLS, by their address
  HandlerPool pool;
  TlsHandshakes handshakes;
  std::atomic<std::int64_t> next_tls_line{0};  // of refused connections in the log, in ms of the clock
};

// The part of an encrypted connection that one in plain text does not have.
struct ServerTls {
  std::unique_ptr<tls::TlsSession> session;
  std::string address;
  bool in_handshake = true;                            // has a place among TlsHandshakes
  std::shared_ptr<const tls::PeerCertificate> peer{};  // null: the client has shown none
  std::unique_ptr<asio::steady_timer> expiry{};        // of the client's certificate, or of the connection
  std::int64_t age_ends_ms = 0;                        // by the monotonic clock; 0: never
  std::uint64_t judged = 0;                            // ProcessTls::changes() at the last check
};

// Bytes are read into a scratch buffer of the thread, so an idle connection holds none. All members are touched on the
// I/O thread only, except the outbox, its counters and the data being written.
//
// The thread that brings an answer writes it, and the answers of others that came meanwhile, unless another thread is
// writing already. It never waits: data that the socket does not accept at once is left to the I/O thread.
class ServerConnection final : public std::enable_shared_from_this<ServerConnection> {
 public:
  // `shared` must outlive the I/O threads. `beyond`: the server has reached its maximum number of connections, so only
  // a member's stays.
  ServerConnection(Tcp::socket socket, ServerShared& shared, std::uint64_t id, bool beyond);
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  [[nodiscard]] Tcp::socket::executor_type executor() { return socket_.get_executor(); }
  void Start();  // on its I/O thread
  // For a connection beyond the limit: it is not known as a member's yet. From any thread.
  [[nodiscard]] bool unproven() const { return beyond_ && !proven_.load(); }
  // On its I/O thread: closes the connection if it is still unproven.
  void CloseUnproven();
  // From any thread. nullopt: the client has not introduced itself yet, or the connection has ended.
  [[nodiscard]] std::optional<ShownConnection> Shown();
  // From any thread, through the sink.
  void FinishCall(SplitFrame frame);
  void Cut();
  // From any thread.
  [[nodiscard]] bool ended() {
    MutexLock lock(mutex_);
    return closed_;
  }
  // Closes because its client does not read its answers.
  void CutSlowReader();
  // Unsent bytes of answers; zero when it is being closed.
  [[nodiscard]] std::size_t unsent_bytes() {
    MutexLock lock(mutex_);
    return closed_ ? 0 : unsent_bytes_.load();
  }

 private:
  enum class Phase : std::uint8_t {
    kPreamble,
    kHandshake,
    kProof,
    kDigest,
    kKerberos,
    kKerberosWork,  // a login is computed, and the connection is not read
    kHeader,
    kRequests,
    kTooBig,
    kLinger,
    kClosed
  };

  void WaitReadable();
  void OnReadable();
  void Consume();
  [[nodiscard]] bool ConsumePreamble();
  // server_tls.cc
  [[nodiscard]] bool ChooseTransport();
  void BeginTls();
  void Handshake(std::string bytes);
  void OnHandshake(const Status& fed, std::string plain);
  void EndHandshake();
  void LimitToCertificate();
  void LookAtTime(std::int64_t expires_ms);
  [[nodiscard]] bool IsRevoked();
  // False if this connection is not encrypted, and the port requires that since a reload.
  [[nodiscard]] bool PlainTextHolds() const;
  [[nodiscard]] bool CertificateHolds() const;
  void WatchPlainText();
  [[nodiscard]] bool TakeSealed(std::string_view bytes);
  void RefuseTls(const std::string& why);
  void SendTlsOutput();
  [[nodiscard]] bool TakePlain(std::string_view bytes);
  [[nodiscard]] bool Seals() const { return tls_ != nullptr || Protects(); }
  [[nodiscard]] bool Protects() const { return kerberos_ != nullptr && kerberos_->stream != nullptr; }
  [[nodiscard]] bool HasWork() REQUIRES(mutex_);
  [[nodiscard]] bool SealSome();
  [[nodiscard]] bool SealParts(std::vector<std::string_view> parts, std::string& sealed);
  [[nodiscard]] std::string MemberBinding() const;

  // server_identity.cc
  [[nodiscard]] std::string PeerHost() const;
  [[nodiscard]] CallerClaims ClaimsFor(std::string_view address) const;
  [[nodiscard]] Result<Caller> DecideCaller() const;
  [[nodiscard]] AuditedConnection AuditedRefusal() const;
  [[nodiscard]] bool Identify();
  [[nodiscard]] bool IdentityHolds();
  [[nodiscard]] AuditedConnection Audited() const;
  [[nodiscard]] Result<std::optional<ActingFor>> ActsFor(const hbase::pb::RequestHeader& header) const;
  void MakeRecord();
  [[nodiscard]] std::shared_ptr<const CallRecord> RecordFor(AuditedConnection connection) const;
  [[nodiscard]] std::shared_ptr<const CallRecord> RecordOf(const ActingFor& acting) const;
  [[nodiscard]] Error RefuseStranger(const std::string& method) const;

  // server_digest.cc
  void BeginDigest();
  [[nodiscard]] bool ConsumeDigest();
  [[nodiscard]] bool CutMessage(std::size_t most, std::string& message);
  void RefuseLogin(const Error& error);
  [[nodiscard]] Result<Caller> TokenCaller() const;

  // server_kerberos.cc
  void BeginKerberos();
  [[nodiscard]] bool ConsumeKerberos();
  void OnKerberos(Result<std::optional<std::string>> reply);
  [[nodiscard]] bool EndLogin();
  void LeaveLogin();
  [[nodiscard]] bool TakeProtected(std::string_view bytes);
  [[nodiscard]] bool TicketHolds() const;
  void AnswerPrincipal();

  void BeginProof();
  [[nodiscard]] bool ConsumeProof();
  void RefuseProof(const Error& error);
  [[nodiscard]] bool ConsumeHeader();
  [[nodiscard]] bool ConsumeRequest();
  void RefuseTooBig();
  [[nodiscard]] CallContext ContextOf(const hbase::pb::RequestHeader& header,
                                      const std::optional<ActingFor>& acting) const;
  void HandleFrame(std::string frame);
  void Admit(std::shared_ptr<CallState> call, const Service::Entry& method);
  [[nodiscard]] bool AnswersAtOnce(const std::shared_ptr<CallState>& call, const Service::Entry& method);
  [[nodiscard]] bool IsMember() const;
  void Answer(std::uint32_t call_id, const Error& error);
  void Refuse(const Error& error);
  void Send(SplitFrame frame);
  // Returns false if it had ended before.
  bool EndSending() REQUIRES(mutex_);
  // The three below are called by the only writing thread, which holds writes_.
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
  void CloseUnlessSetUpWithin(Millis patience);
  void Linger();
  void Close();

  Tcp::socket socket_;
  ServerShared& shared_;
  const std::shared_ptr<ServerCounters> counters_;
  const std::uint64_t id_;
  const bool beyond_;
  const std::int64_t since_ms_;  // of the wall clock
  // The client has introduced itself. From then on peer_, member_, facts_, caller_, service_ and the certificate in
  // tls_ do not change, and any thread may read them.
  std::atomic<bool> proven_{false};
  const std::size_t max_unsent_;
  const std::size_t pause_unsent_;
  const std::size_t max_calls_;
  Capture capture_;
  std::string peer_;
  Phase phase_ = Phase::kPreamble;
  FrameBuffer input_;
  std::unique_ptr<ServerTls> tls_;            // null: plain text; set before the first answer
  std::size_t accounted_input_ = 0;           // the part of it in the server's sum
  std::optional<MemberServerProof> proof_;    // until it is complete
  std::optional<MemberPeer> member_;          // proven
  std::optional<DigestServer> digest_;        // until it is complete
  std::optional<TokenUser> token_;            // its password was shown
  std::unique_ptr<ServerKerberos> kerberos_;  // null: the client does not log in with Kerberos
  ConnectionFacts facts_;
  Caller caller_;                             // for the life of the connection
  std::uint64_t caller_changes_ = 0;          // CallerRules::changes() at the last decision
  std::shared_ptr<const CallRecord> record_;  // null: none is kept
  std::string counted_version_;               // in ServerShared::versions; empty: not counted yet
  std::string counted_plain_;                 // in ServerShared::plain_peers; empty: not counted, or encrypted
  std::shared_ptr<const Service> service_;
  std::shared_ptr<AnswerSink> sink_;
  std::unique_ptr<asio::steady_timer> timer_;  // used while setting up and while lingering
  bool reading_ = false;
  std::int64_t at_once_left_ = 0;  // calls that may be answered at once in this turn
  // Calls that are queued without an attempt, because the last attempts failed: those left, and their number after the
  // next failure.
  int at_once_skips_ = 0;
  int at_once_pause_ = 0;
  std::size_t lingered_bytes_ = 0;

  // For the writing thread: buffers taken from the outbox, and how much of them is written.
  std::vector<std::string> writing_;
  // Parts taken from the outbox of a connection that seals what it writes, and the number of sealed bytes of the first
  // part.
  std::deque<std::string> sealing_;
  std::size_t sealed_of_first_ = 0;
  std::size_t written_parts_ = 0;
  std::size_t written_of_part_ = 0;
  Mutex descriptor_;  // locked before mutex_, while another thread than the I/O thread uses the socket
  bool gone_ GUARDED_BY(descriptor_) = false;

  std::atomic<std::size_t> calls_{0};         // in flight
  std::atomic<std::size_t> unsent_bytes_{0};  // outbox and data being written
  std::atomic<bool> paused_{false};           // not reading until fewer calls or bytes are pending
  Mutex mutex_;
  std::vector<std::string> outbox_ GUARDED_BY(mutex_);
  bool writes_ GUARDED_BY(mutex_) = false;   // a thread writes, or the I/O thread is asked to
  bool lingers_ GUARDED_BY(mutex_) = false;  // the I/O thread sends the last bytes
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::rpc
