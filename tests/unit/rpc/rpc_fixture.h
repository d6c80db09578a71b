// A server with a small service, and ways to call it: through a channel, or byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/server.h"

namespace ratchet::rpc {

// A blocking client socket that sends any bytes.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port);
  ~RawClient();
  RawClient(RawClient&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False when the peer has closed.
  bool Send(std::string_view bytes);
  // One frame without its length; empty when the peer closed (or 10 seconds passed).
  std::string ReadFrame();
  // The next unit of a server's SASL messages, without status and length; of a refusal, its class and text.
  std::string ReadUnit();
  // Everything that the peer still sends; nullopt when it does not close within 10 seconds.
  std::optional<std::string> ReadToEnd();
  // True when the peer closes within 10 seconds; what it still sends is discarded.
  bool WaitClosed();
  [[nodiscard]] bool ok() const { return fd_ >= 0; }

 private:
  bool ReadExactly(std::size_t count, std::string& out);
  int fd_ = -1;
};

// Lengths whose sign is wrong, or for which a server had to keep memory.
inline constexpr std::uint32_t kHugeLengths[] = {1U << 31U, 0x7fffffffU, 0xffffffffU};
// Sends `before`, the length of a login's message, and `after`: the server names the length, and closes.
void ExpectTooLong(RawClient& client, const std::string& before, std::uint32_t length, std::string_view after = {});

// "Get": echoes the row as the value of one cell (in a block when the connection has a codec). Rows with a meaning:
// "hold" keeps the responder until Release, "fail:<class>" fails, "throw" throws, "drop" drops the responder,
// "twice" answers twice, "block" occupies its handler thread until Unblock. "Mutate": counts. "Scan": answers an empty
// message.
class RpcTest : public ::testing::Test {
 protected:
  void SetUp() override { Restart({}); }
  void TearDown() override;
  // A server with these options and fresh counters; the port changes unless given.
  void Restart(ServerOptions options);
  // Answers everything that "hold" kept, newest first.
  void Release();
  // Waits until `count` calls are held.
  void WaitHeld(std::size_t count);
  // Waits until `count` handlers are blocked.
  void WaitBlocked(int count);
  void Unblock();
  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }
  [[nodiscard]] std::shared_ptr<Channel> channel() { return pool_->Get(methods::kClientService, endpoint()); }

  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ChannelPool> pool_;
  std::atomic<int> mutations_{0};

 private:
  void HandleGet(const CallContext& context, const hbase::pb::GetRequest& request,
                 const Responder<hbase::pb::GetResponse>& responder);
  Mutex mutex_;
  CondVar held_changed_;
  std::vector<Responder<hbase::pb::GetResponse>> held_ GUARDED_BY(mutex_);
  int blocked_ GUARDED_BY(mutex_) = 0;
  bool blocking_ GUARDED_BY(mutex_) = true;
};

[[nodiscard]] hbase::pb::GetRequest MakeGet(std::string_view row);
[[nodiscard]] hbase::pb::MutateRequest MakePut(std::string_view row);
// Preamble and connection header for ClientService.
[[nodiscard]] std::string Hello(bool codec = false);
// A whole request frame.
[[nodiscard]] std::string RequestFrame(std::uint32_t call_id, const std::string& method,
                                       const google::protobuf::MessageLite& request);
struct ParsedAnswer {
  hbase::pb::ResponseHeader header;
  std::string body;  // behind the header
};
[[nodiscard]] ParsedAnswer ParseAnswer(const std::string& frame);
// The row of the answer to a Get, or the text of the end: of the exception, "closed" without a frame, or "unreadable".
// `value`: of its cell; may be null. `frame`: without its length.
[[nodiscard]] std::string RowOfAnswer(const std::string& frame, std::string* value = nullptr);
// Waits (up to 10 s) until the condition holds.
bool Eventually(const std::function<bool()>& condition);

}  // namespace ratchet::rpc
