#include "chaos/network/source_finder.h"

#include <signal.h>

#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "chaos/network/links.h"
#include "tests/unit/chaos_network/echo_server.h"

namespace ratchet::chaos {
namespace {

constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0 0 10 0\n"
    "   1: 0100007F:9C40 0100007F:4E20 01 00000000:00000000 00:00000000 00000000     0        0 222 1 0 20 4 30 10 -1\n"
    "   2: 0100007F:4E20 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 333 1 0 20 4 30 10 -1\n"
    "   3: 0100007F:9C41 0100007F:4E20 06 00000000:00000000 03:000016A4 00000000     0        0 0 3 0\n";

TEST(SourceFinder, FindsTheInodeOfTheOwnersSide) {
  EXPECT_EQ(FindInode(kTable, 0x9C40, 0x4E20), 222U);
  EXPECT_EQ(FindInode(kTable, 0x4E20, 0x9C40), 333U);
  EXPECT_FALSE(FindInode(kTable, 0x9C42, 0x4E20));
  EXPECT_FALSE(FindInode(kTable, 0x9C41, 0x4E20)) << "nobody owns a connection in TIME_WAIT";
  EXPECT_FALSE(FindInode("", 1, 2));
}

TEST(SourceFinder, ReadsThePortOfACommandLine) {
  EXPECT_EQ(PortArgument(std::string_view("ratchet-master\0--port\0"
                                          "16000\0--x\0",
                                          32)),
            16000);
  EXPECT_FALSE(PortArgument(std::string_view("ratchet-master\0--port\0nine\0", 27)));
  EXPECT_FALSE(PortArgument("ratchet-master"));
}

// A child that connects is named by its --port argument; this process is "client".
TEST(SourceFinder, TellsAChildFromOurselves) {
  EchoServer server;
  const auto port = PickFreePort();
  const auto childs_own = PickFreePort();
  ASSERT_TRUE(port.ok() && childs_own.ok());
  const auto links = Links::Start({{"rs-1", "", *port, server.port()}, {"master-1", "", *childs_own, 1}}, 1);
  ASSERT_TRUE(links.ok());
  EchoClient ours(*port);
  LaunchSpec spec;
  spec.arguments = {"bash", "-c", fmt::format("exec 3<>/dev/tcp/127.0.0.1/{}; read -u 3 line", *port), "--port",
                    std::to_string(*childs_own)};
  const auto child = Launch(spec);
  ASSERT_TRUE(child.ok());
  const LinkName from_child{"master-1", "rs-1"};
  const auto seen = WaitUntil("both connections", Millis(20'000), [&] {
    return (*links)->Counters(from_child).opened == 1 && (*links)->Counters({"client", "rs-1"}).opened == 1;
  });
  EXPECT_TRUE(seen.ok()) << seen.error().ToString();
  EXPECT_TRUE(Signal(*child, SIGKILL).ok());
  EXPECT_TRUE(WaitUntil("its end", Millis(20'000), [&] { return CheckEnded(*child).has_value(); }).ok());
}

// A slow search delays only the connection for which it runs.
TEST(SourceFinder, ALongLookStopsNoTraffic) {
  EchoServer server;
  const auto port = PickFreePort();
  ASSERT_TRUE(port.ok());
  std::promise<void> go_on;
  std::atomic<int> looks{0};
  const auto links = Links::Start({{"rs-1", "", *port, server.port()}}, 1,
                                  [&looks, wait = go_on.get_future().share()](std::uint16_t, std::uint16_t) {
                                    if (looks.fetch_add(1) == 1) wait.wait();
                                    return std::string("client");
                                  });
  ASSERT_TRUE(links.ok());
  EchoClient first(*port);
  first.Send("one");
  EXPECT_EQ(first.Receive(3, 20'000), "one");
  EchoClient second(*port);
  second.Send("two");
  ASSERT_TRUE(WaitUntil("the second look", Millis(20'000), [&] { return looks == 2; }).ok());
  first.Send("more");
  EXPECT_EQ(first.Receive(4, 20'000), "more");
  EXPECT_EQ((*links)->Counters({"client", "rs-1"}).opened, 1U);
  go_on.set_value();
  EXPECT_EQ(second.Receive(3, 20'000), "two");
}

}  // namespace
}  // namespace ratchet::chaos
