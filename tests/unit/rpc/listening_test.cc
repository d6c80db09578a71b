// A server listens on every address of its names, of both families, and waits for an address that may still appear.
#include "common/rpc/await_listening.h"

#include "common/base/exit_codes.h"
#include "common/base/fault_point.h"
#include "common/base/host_port.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

class ListeningTest : public RpcTest {
 protected:
  void SetUp() override {}
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    if (server_ != nullptr) RpcTest::TearDown();
  }
  [[nodiscard]] bool AnswersAt(const std::string& host) {
    const auto reply = pool_->CallSync(methods::kGet, Endpoint{host, server_->port()}, MakeGet("row"));
    return reply.ok();
  }
  static void FailLookUps(const std::string& name, std::uint64_t times) {
    FaultSpec fault;
    fault.action = FaultAction::kFail;
    fault.match = name;
    fault.times = times;
    FaultPoints::Instance().Arm("names.lookup", fault);
  }
};

constexpr const char* kUnknown = "unknown.invalid";

ServerOptions At(const std::string& host, std::uint16_t port = 0) {
  ServerOptions options;
  options.host = host;
  options.port = port;
  return options;
}

TEST_F(ListeningTest, OnEveryAddressAtOnePort) {
  Restart(At("127.0.0.1,::1,127.0.1.1"));
  EXPECT_EQ(server_->addresses(), (std::vector<std::string>{"127.0.0.1", "::1", "127.0.1.1"}));
  for (const char* host : {"127.0.0.1", "::1", "127.0.1.1"}) EXPECT_TRUE(AnswersAt(host)) << host;
}

TEST_F(ListeningTest, OnAllAddressesOfBothFamilies) {
  Restart(At("::"));
  EXPECT_TRUE(AnswersAt("127.0.0.1"));
  EXPECT_TRUE(AnswersAt("::1"));
}

TEST_F(ListeningTest, AddressesOfOtherMachinesAreLeftOut) {
  Restart(At("127.0.0.1,192.0.2.1"));  // the second one is for documentation only
  EXPECT_EQ(server_->addresses(), std::vector<std::string>{"127.0.0.1"});
  EXPECT_TRUE(AnswersAt("127.0.0.1"));
}

TEST_F(ListeningTest, ATakenPortIsFinalAndAMissingNameIsNot) {
  Restart(At("127.0.0.1"));
  RpcServer second(At("127.0.0.1", server_->port()));
  ExitLatch exit;
  const SystemClock clock;
  const Status taken = AwaitListening(second, Millis(60'000), clock, exit);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(ExitCodeWithoutAddress(taken.error()), exit_code::kPortTaken) << taken.error().ToString();

  FailLookUps(kUnknown, UINT64_MAX);
  RpcServer nameless(At(kUnknown));
  const Status unknown = AwaitListening(nameless, Millis(0), clock, exit);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(ExitCodeWithoutAddress(unknown.error()), exit_code::kNoAddress) << unknown.error().ToString();

  RpcServer elsewhere(At("192.0.2.1"));
  const Status away = AwaitListening(elsewhere, Millis(0), clock, exit);
  ASSERT_FALSE(away.ok());
  EXPECT_EQ(ExitCodeWithoutAddress(away.error()), exit_code::kNoAddress) << away.error().ToString();
}

TEST_F(ListeningTest, ANameThatComesLaterIsAwaited) {
  FailLookUps("localhost", 2);
  RpcServer server(At("localhost"));
  ExitLatch exit;
  const Status listening = AwaitListening(server, Millis(60'000), SystemClock(), exit);
  ASSERT_TRUE(listening.ok()) << listening.error().ToString();
  EXPECT_NE(server.port(), 0);
}

TEST_F(ListeningTest, AStopEndsTheWait) {
  FailLookUps(kUnknown, UINT64_MAX);
  RpcServer server(At(kUnknown));
  ExitLatch exit;
  exit.Request(exit_code::kOk, "a test");
  const Status stopped = AwaitListening(server, Millis(60'000), SystemClock(), exit);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(ExitCodeWithoutAddress(stopped.error()), exit_code::kOk);
}

TEST_F(ListeningTest, ACallThatNeverLeftSaysSo) {
  Restart(At("127.0.0.1"));
  FaultSpec fault;
  fault.action = FaultAction::kDelay;
  fault.delay = Millis(5'000);
  fault.match = kUnknown;
  FaultPoints::Instance().Arm("names.lookup", fault);
  CallOptions options;
  options.timeout = Millis(50);
  const auto reply =
      pool_->CallSync(methods::kGet, Endpoint{kUnknown, server_->port()}, MakeGet("row"), std::move(options));
  ASSERT_FALSE(reply.ok());
  EXPECT_TRUE(IsClass(reply.error(), kNotSent)) << reply.error().ToString();
  EXPECT_FALSE(OutcomeUnknown(reply.error())) << reply.error().ToString();
}

TEST(EndpointTest, AnIpv6AddressIsShownInBrackets) {
  EXPECT_EQ((Endpoint{"::1", 24'022}.ToString()), "[::1]:24022");
  EXPECT_EQ((Endpoint{"h", 24'022}.ToString()), "h:24022");
}

}  // namespace
}  // namespace ratchet::rpc
