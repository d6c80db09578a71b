// The connection behind a Channel. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/backoff.h"
#include "common/base/mutex.h"
#include "common/base/name_resolver.h"
#include "common/rpc/asio_types.h"
#include "common/rpc/capture.h"
#include "common/rpc/channel_options.h"
#include "common/rpc/frame.h"
#include "common/rpc/io_threads.h"
#include "common/rpc/member_proof.h"
#include "common/tls/tls_session.h"

namespace ratchet::rpc {

// Callers put calls into the inbox; everything else happens on the I/O thread.
class ClientChannel final : public Channel, public std::enable_shared_from_this<ClientChannel> {
 public:
  ClientChannel(std::shared_ptr<IoThreads> io, const ChannelPoolOptions& options, std::string service,
                Endpoint endpoint);
  ~ClientChannel() override = default;

  void CallRaw(std::string_view method, const google::protobuf::MessageLite& request,
               std::shared_ptr<google::protobuf::MessageLite> response, CallOptions options, RawDone done) override;
  [[nodiscard]] const Endpoint& endpoint() const override { return endpoint_; }
  void Stop() override;
  // Drops the connection; its calls fail as if the network had done it.
  void Disconnect();

 private:
  struct PendingCall {
    std::uint32_t id = 0;
    std::string method;
    std::string frame;  // emptied when it is written
    std::shared_ptr<google::protobuf::MessageLite> response;
    RawDone done;
    TimePoint deadline;
    Millis timeout{0};
    TimePoint sent_at = TimePoint::max();
    bool sent = false;
    bool lost = false;  // by the hook, which acts as the network
  };
  // kEncrypting: connected; in the TLS handshake. kProving: this process and the server prove to each other that they
  // are members.
  enum class State : std::uint8_t { kIdle, kConnecting, kEncrypting, kProving, kConnected, kStopped };

  void DrainInbox();
  void Begin(std::shared_ptr<PendingCall> call);
  void Enqueue(const std::shared_ptr<PendingCall>& call);
  void Connect();
  void OnResolved(std::uint64_t attempt, const Result<NameResolver::Addresses>& found);
  void OnConnected(std::uint64_t attempt, ErrorCode error);
  void NotConnected(const std::string& why);
  void BeginTls();
  [[nodiscard]] bool TakeSealed(std::string_view bytes);
  void SealWriting();
  void Introduce();
  void OnBytes(std::string_view bytes);
  void OnReadError(const std::string& why);
  void Ready();
  void BeginProof();
  void ConsumeProof();
  void OnServerUnit(const std::string& unit);
  void OnServerFrame();
  void NotProven(const std::string& why);
  void ShowKeyInClear();
  void Write();
  void Read();
  void ConsumeFrames();
  void HandleFrame(const std::string& frame);
  void Refused(const Error& error);
  void Deliver(std::uint32_t call_id, Result<std::string> cells);
  void Complete(const std::shared_ptr<PendingCall>& call, Result<std::string> cells);
  void Disconnected(const std::string& why);
  void CloseSocket();
  void FailAll(const std::function<Error(bool sent)>& error);
  void ArmTimer();
  void OnTimer();
  [[nodiscard]] Error DeadlineError(const PendingCall& call) const;
  void StopOnLoop();
  void After(Millis delay, std::function<void()> action);
  [[nodiscard]] TransportAction AskHook(bool is_request, const std::string& method) const;

  const std::shared_ptr<IoThreads> io_;
  asio::io_context& loop_;
  const ChannelPoolOptions options_;
  const std::string service_;
  const Endpoint endpoint_;

  std::atomic<std::uint32_t> next_id_{0};
  std::atomic<std::size_t> unsent_bytes_{0};
  Mutex mutex_;
  std::vector<std::shared_ptr<PendingCall>> inbox_ GUARDED_BY(mutex_);
  bool drain_scheduled_ GUARDED_BY(mutex_) = false;
  bool stopped_ GUARDED_BY(mutex_) = false;

  // I/O thread only.
  State state_ = State::kIdle;
  std::optional<Tcp::socket> socket_;
  asio::steady_timer connect_timer_;
  asio::steady_timer deadline_timer_;
  TimePoint armed_for_ = TimePoint::max();
  std::uint64_t connection_ = 0;  // number of the connection (attempt); callbacks of older ones are ignored
  std::uint32_t failures_ = 0;
  std::string last_failure_;  // the last error of connecting
  TimePoint retry_at_{};
  Prng prng_;
  Capture capture_;
  std::unique_ptr<tls::TlsSession> tls_;  // of this connection; null: plain text
  std::optional<FrameBuffer> input_;
  std::string read_buffer_;
  TimePoint last_received_{};
  bool answered_ = false;  // this connection has answered a call
  std::map<std::uint32_t, std::shared_ptr<PendingCall>> pending_;
  std::set<std::pair<TimePoint, std::uint32_t>> deadlines_;
  std::vector<std::shared_ptr<PendingCall>> outbox_;  // to be written
  std::string outbox_hello_;                          // introduction of a new connection, before everything else
  std::optional<MemberClientProof> proof_;            // while proving
  bool proof_sent_ = false;                           // the server has proven itself, and this process too
  std::string key_in_clear_;                          // to be shown by the next attempt; empty: none
  std::vector<std::string> writing_;                  // in use while a write runs
};

}  // namespace ratchet::rpc
