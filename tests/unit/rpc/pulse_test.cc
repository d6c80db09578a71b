// A pulse is answered by the I/O thread of a process, whatever its handlers do (S124: silence needs three witnesses).
#include "common/rpc/pulse.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <unistd.h>

#include "common/rpc/methods/admin_service.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

constexpr Millis kPatience{150};

Status Failed(Code code, std::string_view what) { return Error(code, "failed", std::string(what)); }

TEST(JudgePulseTest, ARefusalByTheProcessIsASignOfLife) {
  EXPECT_EQ(JudgePulse(Ok(), Millis{1}, kPatience), PulseEnd::kAnswered);
  EXPECT_EQ(JudgePulse(Failed(Code::kUnsupported, kNoSuchMethod), Millis{1}, kPatience), PulseEnd::kAnswered);
  EXPECT_EQ(JudgePulse(Failed(Code::kUnavailable, exception::kCallQueueTooBig), Millis{1}, kPatience),
            PulseEnd::kAnswered);
}

TEST(JudgePulseTest, OnlyATimeOutIsSilence) {
  EXPECT_EQ(JudgePulse(Failed(Code::kTimeout, kCallTimeout), Millis{151}, kPatience), PulseEnd::kSilent);
  EXPECT_EQ(JudgePulse(Failed(Code::kUnavailable, kNotSent), Millis{150}, kPatience), PulseEnd::kSilent);
  EXPECT_EQ(JudgePulse(Failed(Code::kUnavailable, kNotSent), Millis{1}, kPatience), PulseEnd::kUnclear);
  EXPECT_EQ(JudgePulse(Failed(Code::kUnavailable, kConnectionLost), Millis{1}, kPatience), PulseEnd::kUnclear);
  EXPECT_EQ(JudgePulse(Failed(Code::kAborted, ""), Millis{1}, kPatience), PulseEnd::kUnclear);
}

void OwnDelay() {
  EXPECT_NE(JudgePulse(Failed(Code::kTimeout, kCallTimeout), Millis{260}, kPatience), PulseEnd::kSilent)
      << "this process was late";
}

TEST(JudgePulseTest, ADelayOfThisProcessIsNoSilence) { OwnDelay(); }

TEST(JudgePulseTest, TakingTheOwnDelayForSilenceIsNoticed) {
  ExpectKilled("rpc.silence_of_the_late", OwnDelay, "this process was late");
}

class PulseTest : public RpcTest {
 protected:
  // A server whose only handler of requests of operators is busy.
  void Occupy() {
    server_->Stop();
    busy_ = std::make_unique<RpcServer>(ServerOptions{});
    auto service = std::make_shared<Service>(methods::kAdminService);
    service->On(methods::kGetServerInfo,
                [this](const CallContext&, const auto&, std::string_view, const auto&) {
                  MutexLock lock(mutex_);
                  ++blocked_;
                  changed_.NotifyAll();
                  while (!released_) changed_.Wait(mutex_);
                },
                {QueueClass::kAdmin});
    busy_->Add(service);
    ASSERT_TRUE(busy_->Start().ok());
    const int threads = ServerOptions{}.queues[static_cast<std::size_t>(QueueClass::kAdmin)].threads;
    for (int i = 0; i < 2 * threads; ++i) {
      pool_->Call(methods::kGetServerInfo, {"127.0.0.1", busy_->port()}, {}, {}, [](const auto&) {});
    }
    MutexLock lock(mutex_);
    while (blocked_ < threads) changed_.Wait(mutex_);
  }
  void TearDown() override {
    {
      MutexLock lock(mutex_);
      released_ = true;
      changed_.NotifyAll();
    }
    if (busy_ != nullptr) busy_->Stop();
    RpcTest::TearDown();
  }
  std::unique_ptr<RpcServer> busy_;
  Mutex mutex_;
  CondVar changed_;
  int blocked_ GUARDED_BY(mutex_) = 0;
  bool released_ GUARDED_BY(mutex_) = false;
};

TEST_F(PulseTest, BusyHandlersAnswerIt) {
  Occupy();
  if (HasFatalFailure()) return;
  EXPECT_EQ(SendPulseSync(*pool_, {"127.0.0.1", busy_->port()}, Millis{30'000}), PulseEnd::kAnswered);
}

TEST_F(PulseTest, AClosedAddressIsUnclear) {
  const Endpoint gone = endpoint();
  server_->Stop();
  EXPECT_EQ(SendPulseSync(*pool_, gone, Millis{30'000}), PulseEnd::kUnclear);
}

// A listening socket that nothing accepts from, as that of a stopped process.
class StoppedListener {
 public:
  explicit StoppedListener(int backlog) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(fd_, backlog), 0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~StoppedListener() { ::close(fd_); }
  StoppedListener(const StoppedListener&) = delete;
  StoppedListener& operator=(const StoppedListener&) = delete;
  // On a busy machine this process may be late itself, which is unclear.
  [[nodiscard]] PulseEnd FirstClearPulse(ChannelPool& pool) const {
    PulseEnd end = PulseEnd::kUnclear;
    EXPECT_TRUE(Eventually([&] {
      end = SendPulseSync(pool, {"127.0.0.1", port_}, Millis{50});
      return end != PulseEnd::kUnclear;
    }));
    return end;
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  const int fd_;
  std::uint16_t port_ = 0;
};

// The kernel accepts connections for a stopped process until its queue is full.
TEST_F(PulseTest, AStoppedProcessIsSilent) { EXPECT_EQ(StoppedListener(8).FirstClearPulse(*pool_), PulseEnd::kSilent); }

TEST_F(PulseTest, AStoppedProcessWithAFullQueueIsSilent) {
  const StoppedListener full(0);
  const RawClient waits(full.port());
  EXPECT_EQ(full.FirstClearPulse(*pool_), PulseEnd::kSilent);
}

}  // namespace
}  // namespace ratchet::rpc
