// Each change that can be made to a link, on real sockets; the tests assert order, not durations.
#include "chaos/network/links.h"

#include <cerrno>
#include <chrono>

#include <gtest/gtest.h>

#include "chaos/cluster/child_process.h"
#include "tests/unit/chaos_network/echo_server.h"

namespace ratchet::chaos {
namespace {

constexpr int kPatience = 20'000;  // ms; for data that must come
constexpr int kShort = 150;        // ms; for data that must not come

class LinksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto port = PickFreePort();
    ASSERT_TRUE(port.ok());
    port_ = *port;
    auto started = Links::Start({{"rs-1", "", port_, server_.port()}}, /*seed=*/1);
    ASSERT_TRUE(started.ok()) << started.error().ToString();
    links_ = std::move(*started);
  }

  // Sends `text` and expects it back.
  static void Echo(EchoClient& client, const std::string& text = "hello") {
    client.Send(text);
    EXPECT_EQ(client.Receive(text.size(), kPatience), text);
  }

  LinkCounters Counters() { return links_->Counters(link_); }

  void WaitFor(const std::string& what, const std::function<bool()>& condition) {
    const Status waited = WaitUntil(what, Millis(kPatience), condition);
    EXPECT_TRUE(waited.ok()) << waited.error().ToString();
  }

  EchoServer server_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Links> links_;
  const LinkName link_{"client", "rs-1"};
};

TEST_F(LinksTest, PassesOnUnchangedAndCounts) {
  EchoClient client(port_);
  std::string large;
  for (int i = 0; i < 300'000; ++i) large += static_cast<char>(i * 7);
  Echo(client, large);
  EXPECT_EQ(links_->Connected(), std::vector<LinkName>{link_});
  WaitFor("all is counted", [&] { return Counters().passed == 2 * large.size(); });
  EXPECT_EQ(Counters().open_now, 1U);
  EXPECT_EQ(Counters().Disturbed(), 0U);
}

int ErrorOfConnect(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = Loopback(port);
  const int error = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  close(fd);
  return error;
}

// A proxy that accepts for a dead process hid every death from the early detection: chaos runs never tested it.
TEST_F(LinksTest, ThePortOfADeadProcessRefusesConnectionsUntilItIsBack) {
  auto process = std::make_unique<EchoServer>();
  const std::uint16_t listens = process->port();
  const auto advertised = PickFreePort();
  ASSERT_TRUE(advertised.ok());
  auto links = Links::Start({{"rs-2", "", *advertised, listens}}, /*seed=*/1);
  ASSERT_TRUE(links.ok()) << links.error().ToString();
  for (int round = 0; round < 3; ++round) {
    EchoClient client(*advertised);
    Echo(client);
    process.reset();
    WaitFor("the port refuses", [&] { return ErrorOfConnect(*advertised) == ECONNREFUSED; });
    process = std::make_unique<EchoServer>(listens);
    WaitFor("the port accepts", [&] { return ErrorOfConnect(*advertised) == 0; });
  }
  EchoClient client(*advertised);
  Echo(client);
}

TEST_F(LinksTest, ThePortOfALivingProcessRefusesForAWhile) {
  for (int round = 0; round < 3; ++round) {
    EchoClient client(port_);
    Echo(client);
    EXPECT_GE(links_->ResetAndRefuse("rs-1"), 1U);  // and what is left of a connection below
    client.Receive(1, kPatience);
    EXPECT_TRUE(client.reset());
    EXPECT_EQ(ErrorOfConnect(port_), ECONNREFUSED);
    EXPECT_EQ(links_->ResetAndRefuse("rs-1"), 0U) << "it refuses already";
    links_->AcceptAgain("rs-1");
    WaitFor("the port accepts", [&] { return ErrorOfConnect(port_) == 0; });
  }
  EXPECT_EQ(links_->ResetAndRefuse("rs-9"), 0U);
  links_->AcceptAgain("rs-1");
  EchoClient client(port_);
  Echo(client);
}

TEST_F(LinksTest, BlackholeHoldsAndThenDelivers) {
  EchoClient client(port_);
  Echo(client);
  links_->Set(link_, LinkMode::Blackhole());
  client.Send("during");
  WaitFor("the bytes are held", [&] { return Counters().held >= 6; });
  EXPECT_EQ(client.Receive(6, kShort), "");
  EXPECT_EQ(server_.received(), 5U);
  links_->Clear(link_);
  EXPECT_EQ(client.Receive(6, kPatience), "during");
}

TEST_F(LinksTest, OneWayBlackholeLetsTheOtherWayPass) {
  EchoClient client(port_);
  Echo(client);
  links_->Set(link_, {.hold_back = true});
  client.Send("request");
  WaitFor("the request arrives", [&] { return server_.received() == 12; });
  EXPECT_EQ(client.Receive(7, kShort), "");
  WaitFor("the answer is held", [&] { return Counters().held == 7; });
  links_->ClearAll();
  EXPECT_EQ(client.Receive(7, kPatience), "request");
}

TEST_F(LinksTest, DelayKeepsTheOrder) {
  EchoClient client(port_);
  links_->Set(link_, {.delay = Millis(30), .jitter = Millis(50)});
  std::string sent;
  for (int i = 0; i < 20; ++i) {
    client.Send(fmt::format("{:02}", i));
    sent += fmt::format("{:02}", i);
  }
  EXPECT_EQ(client.Receive(sent.size(), kPatience), sent);
  EXPECT_EQ(Counters().delayed, 2 * sent.size());
}

TEST_F(LinksTest, DelayDelays) {
  EchoClient client(port_);
  Echo(client);
  links_->Set(link_, {.delay = Millis(100)});
  const auto begun = std::chrono::steady_clock::now();
  Echo(client);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, Millis(200));  // once each way
}

TEST_F(LinksTest, SlowDripTakesItsTimeAndEndsWhenItIsLifted) {
  EchoClient client(port_);
  links_->Set(link_, {.bytes_per_second = 1'000});
  const std::string text(100'000, 'x');  // would take more than a minute each way
  client.Send(text);
  EXPECT_FALSE(client.Receive(1, kPatience).empty());
  EXPECT_LT(server_.received(), text.size());
  links_->Clear(link_);
  EXPECT_EQ(client.Receive(text.size() - 1, kPatience).size(), text.size() - 1);
  EXPECT_GT(Counters().delayed, 0U);
}

TEST_F(LinksTest, ResetCutsBothEnds) {
  EchoClient client(port_);
  Echo(client);
  EXPECT_EQ(links_->Reset(link_), 1U);
  client.Receive(1, kPatience);
  EXPECT_TRUE(client.reset());
  EXPECT_EQ(Counters().cut, 1U);
  EXPECT_EQ(Counters().open_now, 0U);
  EchoClient again(port_);
  Echo(again);
}

TEST_F(LinksTest, HalfOpenSaysNothingAndEndsWithAReset) {
  EchoClient client(port_);
  Echo(client);
  links_->Set(link_, {.half_open = true});
  client.Send("lost");
  WaitFor("the bytes have vanished", [&] { return Counters().vanished >= 4; });
  EXPECT_EQ(client.Receive(1, kShort), "");
  EXPECT_FALSE(client.ended());
  EchoClient fresh(port_);  // connects, and no process answers
  fresh.Send("hello");
  WaitFor("these have vanished, too", [&] { return Counters().vanished >= 9; });
  links_->Clear(link_);
  client.Receive(1, kPatience);
  EXPECT_TRUE(client.reset());
  EXPECT_EQ(server_.received(), 5U);
}

TEST_F(LinksTest, LossyLosesConnections) {
  links_->Set(link_, {.lose_one_in = 1});
  EchoClient client(port_);
  client.Send("hello");
  client.Receive(1, kPatience);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(Counters().cut, 1U);
  EXPECT_EQ(server_.received(), 0U);
}

TEST_F(LinksTest, OtherLinksAreLeftAlone) {
  EchoClient client(port_);
  links_->Set({"master-1", "rs-1"}, LinkMode::Blackhole());
  Echo(client);
  EXPECT_EQ(Counters().held, 0U);
}

TEST_F(LinksTest, AnEndIsPassedOn) {
  {
    EchoClient client(port_);
    Echo(client);
  }
  WaitFor("the connection is gone", [&] { return Counters().open_now == 0; });
  EXPECT_TRUE(links_->Connected().empty());
}

TEST_F(LinksTest, NobodyListensBehindIt) {
  const auto port = PickFreePort();
  const auto nobody = PickFreePort();
  ASSERT_TRUE(port.ok() && nobody.ok());
  const auto links = Links::Start({{"rs-2", "rs-1", *port, *nobody}}, 1);
  ASSERT_TRUE(links.ok());
  EchoClient client(*port);
  client.Receive(1, kPatience);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ((*links)->Counters({"rs-1", "rs-2"}).opened, 1U);
}

TEST_F(LinksTest, APortThatIsTakenIsAnError) {
  const auto second = Links::Start({{"rs-1", "", port_, server_.port()}}, 1);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message().find(std::to_string(port_)), std::string::npos);
}

}  // namespace
}  // namespace ratchet::chaos
