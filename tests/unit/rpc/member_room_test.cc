// S87 (reserved connections for members): however many connections clients hold, members of the cluster connect.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/server_connection.h"
#include "tests/support/members.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using hbase::pb::GetResponse;

class MemberRoomTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kLimit = 3;

  void SetUp() override {
    ServerOptions options;
    const auto own = MakeMember({"the key"});
    options.member = own;
    options.max_connections = kLimit;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    service->On(methods::kGet, [](const CallContext&, const hbase::pb::GetRequest&, std::string_view,
                                  const Responder<GetResponse>& responder) { responder.Reply({}); });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
    NameMember(*own, *server_);
    for (std::size_t i = 0; i < kLimit; ++i) clients_.emplace_back(server_->port());
    ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open == kLimit; }));
  }
  void TearDown() override { server_->Stop(); }
  bool Answered(const std::string& key) {
    ChannelPool pool(key.empty() ? ChannelPoolOptions() : MemberPool(key));
    return pool.CallSync(methods::kGet, {"127.0.0.1", server_->port()}, MakeGet("r")).ok();
  }

  std::unique_ptr<RpcServer> server_;
  std::vector<RawClient> clients_;
};

TEST_F(MemberRoomTest, AtTheLimitMembersConnectAndStrangersDoNot) {
  EXPECT_TRUE(Answered("the key"));
  EXPECT_FALSE(Answered("another key"));
  EXPECT_FALSE(Answered(""));
  EXPECT_TRUE(RawClient(server_->port()).WaitClosed()) << "one that sends nothing";
  EXPECT_GT(server_->stats().connections_refused, 0U);
  EXPECT_TRUE(clients_.front().Send("HBas")) << "those within the limit stay";
}

TEST_F(MemberRoomTest, ClientsThatFillThatRoomGiveWay) {
  std::vector<RawClient> silent;
  for (std::size_t i = 0; i < 3 * kMemberConnections; ++i) silent.emplace_back(server_->port());
  EXPECT_TRUE(Answered("the key"));
  EXPECT_LE(server_->stats().connections_open, kLimit + 2 * kMemberConnections);
  EXPECT_TRUE(silent.front().WaitClosed());
  EXPECT_TRUE(silent.back().WaitClosed());
}

TEST_F(MemberRoomTest, ReachingTheLimitIsSaid) {
  const std::string log = ::testing::TempDir() + "member_room_test.log";
  ASSERT_TRUE(OpenLog({LogLevel::kInfo, log}).ok());
  EXPECT_TRUE(Answered("the key"));
  FlushLog();
  ConfigureLog({});
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  std::remove(log.c_str());
  EXPECT_NE(text.str().find("3 are open, the maximum"), std::string::npos) << text.str();
}

TEST_F(MemberRoomTest, WithoutRoomAMemberIsKeptOut) {
  const ScopedMutant mutant("rpc.no_room_for_members");
  EXPECT_FALSE(Answered("the key"));
}

}  // namespace
}  // namespace ratchet::rpc
