// A session and the names of ZooKeeper's members: no look-up while it is connected, none in the thread that keeps it.
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/fault_point.h"
#include "common/base/host_port.h"
#include "common/zk/server_list.h"
#include "tests/support/tcp_forwarder.h"
#include "tests/unit/zk/zk_fixture.h"

namespace ratchet::zk {
namespace {

TEST(ServerListTest, IsReadAndGivenToTheLibraryAsAddresses) {
  const auto list = ParseServerList("h1:2181,[::1]:2182,10.0.0.3:2183/root");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->members, (std::vector<HostPort>{{"h1", 2181}, {"::1", 2182}, {"10.0.0.3", 2183}}));
  EXPECT_EQ(list->root, "/root");
  EXPECT_EQ(list->Numeric({{"h1", {"10.0.0.1", "fd77::1"}}, {"::1", {"::1"}}}),
            "10.0.0.1:2181,fd77::1:2181,::1:2182/root")
      << "without the member that has no address now";
  EXPECT_EQ(list->Numeric({}), "");
  for (const char* bad : {"", "h1", "h1:2181,", "h1:x", "[h1]:2181", "h 1:2181"})
    EXPECT_FALSE(ParseServerList(bad).has_value()) << bad;
}

class ZkNamesTest : public ZkFixture {
 protected:
  void TearDown() override { FaultPoints::Instance().DisarmAll(); }
  static std::string ByName() { return "localhost:" + std::to_string(Server().port()); }
  // Counts look-ups of the name, and lets each continue.
  static void CountLookUps(std::atomic<int>& count) {
    FaultSpec fault;
    fault.action = FaultAction::kCall;
    fault.match = "localhost";
    fault.times = UINT64_MAX;
    fault.call = [&count](std::string_view) { ++count; };
    FaultPoints::Instance().Arm("names.lookup", fault);
  }
  static void FailLookUps(Millis delay) {
    FaultSpec fault;
    fault.action = delay.count() == 0 ? FaultAction::kFail : FaultAction::kDelay;
    fault.match = "localhost";
    fault.times = UINT64_MAX;
    fault.delay = delay;
    FaultPoints::Instance().Arm("names.lookup", fault);
  }
};

TEST_F(ZkNamesTest, AConnectedSessionLooksNoNameUp) {
  std::atomic<int> look_ups{0};
  auto session = ZkSession::Open({ByName(), Millis(500)});
  ASSERT_TRUE(session.ok()) << session.error().ToString();
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  CountLookUps(look_ups);
  // Many pings later: the library looks at its socket at least this often.
  const auto until = SystemClock().Now() + 4 * (*session)->negotiated_timeout();
  while (SystemClock().Now() < until) ASSERT_TRUE((*session)->Sync("/").ok());
  EXPECT_EQ(look_ups.load(), 0);
  FaultPoints::Instance().DisarmAll();  // before the counter goes
}

TEST_F(ZkNamesTest, ASessionOutlivesDnsThatFailsOrHangs) {
  auto session = ZkSession::Open({ByName(), Millis(500)});
  ASSERT_TRUE(session.ok()) << session.error().ToString();
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  for (const Millis delay : {Millis(0), Millis(3'000)}) {
    FailLookUps(delay);
    const auto until = SystemClock().Now() + 4 * (*session)->negotiated_timeout();
    while (SystemClock().Now() < until) ASSERT_TRUE((*session)->Sync("/").ok()) << delay.count();
    EXPECT_EQ((*session)->state(), SessionState::kConnected);
  }
}

// The member is away and DNS fails: the session comes back by the address that is known.
TEST_F(ZkNamesTest, ALostConnectionReturnsWhileDnsFails) {
  auto session = ZkSession::Open({ByName(), Millis(20'000)});
  ASSERT_TRUE(session.ok()) << session.error().ToString();
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  const auto id = (*session)->session_id();
  FailLookUps(Millis(0));
  ASSERT_TRUE(Server().Kill9().ok());
  ASSERT_TRUE(chaos::WaitUntil("the session is disconnected", kPatience, [&] {
                return (*session)->state() == SessionState::kConnecting;
              }).ok());
  ASSERT_TRUE(Server().Start(kPatience).ok());
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  EXPECT_EQ((*session)->session_id(), id);
}

TEST_F(ZkNamesTest, AMemberMayHaveAnIpv6Address) {
  testing_support::TcpForwarder forwarder("::1");
  forwarder.LeadTo(Server().port());
  auto session = ZkSession::Open({JoinHostPort("::1", forwarder.port()), Millis(2'000)});
  ASSERT_TRUE(session.ok()) << session.error().ToString();
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  EXPECT_TRUE((*session)->Sync("/").ok());
  (*session)->Close();
}

// The data is lost, so the new transactions are earlier than those that the session has seen: its connections are
// closed without an answer. It counts as expired, and a new session works.
TEST(ZkSetBackTest, ASessionThatIsRefusedCountsAsExpired) {
  const auto dir = std::filesystem::path(testing::TempDir()) / fmt::format("ratchet_zk_back_{}", ::getpid());
  chaos::ZooKeeperSpec spec;
  spec.dir = dir / "zookeeper";
  spec.log = dir / "zookeeper.log";
  std::filesystem::create_directories(dir);
  auto server = chaos::ZooKeeperProcess::Prepare(spec);
  ASSERT_TRUE(server.ok()) << server.error().ToString();
  ASSERT_TRUE(server->Start(kPatience).ok());
  auto session = ZkSession::Open({server->address(), Millis(1'000)});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  for (int i = 0; i < 200; ++i) ASSERT_TRUE((*session)->Create(fmt::format("/n{}", i), "", NodeKind::kPersistent).ok());
  Observed<SessionState> state;
  (*session)->Subscribe([&](SessionState now) { state.Set(now); });
  ASSERT_TRUE(server->Kill9().ok());
  std::filesystem::remove_all(spec.dir / "data");
  std::filesystem::create_directories(spec.dir / "data");
  ASSERT_TRUE(server->Start(kPatience).ok());
  EXPECT_TRUE(state.WaitFor(SessionState::kExpired)) << SessionStateName((*session)->state());
  EXPECT_TRUE((*session)->refused());
  EXPECT_EQ((*session)->Sync("/").error().code(), Code::kFenced);
  auto fresh = ZkSession::Open({server->address(), Millis(1'000)});
  ASSERT_TRUE(fresh.ok());
  EXPECT_TRUE((*fresh)->WaitConnected(kPatience).ok());
  (*fresh)->Close();
  (*session)->Close();
  IgnoreResult(server->Kill9(), "nothing of it is kept");
  std::filesystem::remove_all(dir);
}

// An outage that is longer than the session time-out does not end the process: the members restart the time-outs of
// sessions when they are back.
TEST(ZkSetBackTest, ASessionReturnsAfterALongOutage) {
  const auto dir = std::filesystem::path(testing::TempDir()) / fmt::format("ratchet_zk_long_{}", ::getpid());
  chaos::ZooKeeperSpec spec;
  spec.dir = dir / "zookeeper";
  spec.log = dir / "zookeeper.log";
  std::filesystem::create_directories(dir);
  auto server = chaos::ZooKeeperProcess::Prepare(spec);
  ASSERT_TRUE(server.ok()) << server.error().ToString();
  ASSERT_TRUE(server->Start(kPatience).ok());
  auto session = ZkSession::Open({server->address(), Millis(1'000)});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  const auto id = (*session)->session_id();
  ASSERT_TRUE(server->Kill9().ok());
  const auto until = SystemClock().Now() + Millis(4'000);
  ASSERT_TRUE(
      chaos::WaitUntil("four session times have passed", kPatience, [&] { return SystemClock().Now() >= until; }).ok());
  ASSERT_TRUE(server->Start(kPatience).ok());
  ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
  EXPECT_EQ((*session)->session_id(), id);
  (*session)->Close();
  IgnoreResult(server->Kill9(), "nothing of it is kept");
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace ratchet::zk
