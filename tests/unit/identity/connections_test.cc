// Operators list the connections of a server, and close some.
#include "common/rpc/connections.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/exception_names.h"
#include "common/identity/certificate_callers.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/connections.pb.h"
#include "common/rights/judge.h"
#include "common/rpc/connection_methods.h"
#include "common/rpc/methods/admin_service.h"
#include "tests/support/members.h"
#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace ratchet::rpc {
namespace {

constexpr char kConnectionsKey[] = "proof-the key of this cluster";

// Users with certificates, and others in plain text. Root is a superuser.
class ConnectionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    identity::IdentityOptions identity;
    identity.user_from = "cn";
    identity.simple_users = "on";
    auto callers = identity::CertificateCallers::Open(identity);
    ASSERT_TRUE(callers.ok()) << callers.error().ToString();
    users_->Set(rights::Mode::kEnforce, *rights::Users::Parse("root", ""));
    ASSERT_TRUE(rights_.Take(std::make_shared<rights::RightsImage>(
        rights::ImageNumber{1, 1}, std::vector<rights::RightsEntry>(), std::vector<rights::Scope>())));
    ServerOptions options;
    options.callers = *callers;
    options.tls = files_.Make("accept", false);
    options.member = member_ = MakeMember({kConnectionsKey});
    options.judge = &judge_;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kAdminService);
    AddConnectionMethods(*service, [this] { return server_.get(); });
    service->On(methods::kGetServerInfo,
                [](const CallContext&, const hbase::pb::GetServerInfoRequest&, std::string_view,
                   const Responder<hbase::pb::GetServerInfoResponse>& responder) {
                  hbase::pb::GetServerInfoResponse response;
                  auto& name = *response.mutable_server_info()->mutable_server_name();
                  name.set_host_name("h");
                  responder.Reply(response);
                });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
    NameMember(*member_, *server_);
  }
  void TearDown() override {
    pools_.clear();
    if (server_ != nullptr) server_->Stop();
  }
  // Connects with one call.
  ChannelPool& Connect(const std::string& user, bool with_certificate = false) {
    ChannelPoolOptions options;
    options.user = user;
    if (with_certificate) options.tls = files_.Make("off", true, {user, {}});
    return Connect(std::move(options));
  }
  ChannelPool& Connect(ChannelPoolOptions options) {
    pools_.push_back(std::make_unique<ChannelPool>(std::move(options)));
    EXPECT_TRUE(Works(*pools_.back()));
    return *pools_.back();
  }
  [[nodiscard]] bool Works(ChannelPool& pool) const {
    return pool.CallSync(methods::kGetServerInfo, endpoint(), hbase::pb::GetServerInfoRequest()).ok();
  }
  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }
  [[nodiscard]] std::vector<std::string> UsersOf(const ConnectionFilter& filter) const {
    std::vector<std::string> users;
    for (const ShownConnection& facts : server_->Connections(filter)) users.push_back(facts.user);
    return users;
  }
  template <class Request, class Response>
  [[nodiscard]] std::string RefusalOf(ChannelPool& pool, const Method<Request, Response>& method,
                                      const Request& request) const {
    const auto answer = pool.CallSync(method, endpoint(), request);
    return answer.ok() ? std::string() : answer.error().remote_class();
  }

  TestCertificates files_;
  rights::RightsHolder rights_;
  const std::shared_ptr<rights::Users> users_ = std::make_shared<rights::Users>();
  const rights::Judge judge_{rights_, users_};
  std::shared_ptr<MemberIdentity> member_;
  std::unique_ptr<RpcServer> server_;
  std::vector<std::unique_ptr<ChannelPool>> pools_;
};

TEST_F(ConnectionsTest, EachHasItsUserAndHowTheClientHasShownIt) {
  const std::int64_t before = SystemClock().WallMillis();
  Connect("alice", /*with_certificate=*/true);
  Connect("bob");
  ChannelPoolOptions member;
  member.member = MakeMember({kConnectionsKey});
  member.user = "regionserver";
  Connect(std::move(member));
  // A call ends after its answer was sent.
  EXPECT_TRUE(Eventually([&] {
    const auto shown = server_->Connections({});
    return std::all_of(shown.begin(), shown.end(), [](const ShownConnection& each) { return each.calls == 0; });
  }));
  const auto all = server_->Connections({});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].user, "alice");
  EXPECT_EQ(all[0].authentication, Authentication::kCertificate);
  EXPECT_EQ(all[0].tls.substr(0, 5), "TLSv1");
  EXPECT_FALSE(all[0].serial.empty());
  EXPECT_EQ(all[1].user, "bob");
  EXPECT_EQ(all[1].authentication, Authentication::kSimple);
  EXPECT_EQ(all[1].tls + all[1].serial + all[1].member, "");
  EXPECT_EQ(all[2].authentication, Authentication::kMember);
  EXPECT_FALSE(all[2].member.empty());
  for (const ShownConnection& each : all) {
    EXPECT_EQ(each.peer.substr(0, 10), "127.0.0.1:");
    EXPECT_EQ(each.service, "AdminService");
    EXPECT_GE(each.since_ms, before);
  }
}

TEST_F(ConnectionsTest, TheyAreFoundByUserAddressAndPlainText) {
  Connect("alice", /*with_certificate=*/true);
  Connect("bob");
  Connect("");
  EXPECT_EQ(UsersOf({"bob", {}, false}), std::vector<std::string>{"bob"});
  EXPECT_EQ(UsersOf({"", {}, false}), std::vector<std::string>{""}) << "a client that names no user";
  EXPECT_EQ(UsersOf({{}, {}, true}), (std::vector<std::string>{"bob", ""}));
  EXPECT_EQ(UsersOf({{}, "127.0.0.1", false}).size(), 3u);
  EXPECT_EQ(UsersOf({{}, "127.0.0.2", false}).size(), 0u);
  const std::string peer = server_->Connections({"alice", {}, false}).front().peer;
  EXPECT_EQ(UsersOf({{}, peer, false}), std::vector<std::string>{"alice"});
  RawClient silent(server_->port());
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open == 4; }));
  EXPECT_EQ(UsersOf({}).size(), 3u) << "a client that has not introduced itself has no user";
}

// ThreadSanitizer found that a connection was listed while it was made.
TEST_F(ConnectionsTest, TheyAreListedWhileOthersBegin) {
  constexpr int kClients = 300;
  std::atomic<bool> all_begun{false};
  std::thread lists([&] {
    while (!all_begun) EXPECT_EQ(UsersOf({}).size(), 0u);
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(std::make_unique<RawClient>(server_->port()));
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_open == kClients; }));
  all_begun = true;
  lists.join();
}

TEST_F(ConnectionsTest, ClosingLeavesOtherUsersMembersAndTheOwnConnection) {
  ChannelPool& root = Connect("root");
  Connect("root");
  Connect("bob");
  ChannelPoolOptions options;
  options.member = MakeMember({kConnectionsKey});
  options.user = "root";
  Connect(std::move(options));
  pb::CloseConnectionsRequest request;
  request.set_user_name("root");
  const auto closed = root.CallSync(methods::kCloseConnections, endpoint(), request);
  ASSERT_TRUE(closed.ok()) << closed.error().ToString();
  EXPECT_EQ(closed->message.closed(), 1u);
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_open == 3; }));
  request.clear_user_name();
  request.set_address("127.0.0.1");
  EXPECT_EQ(root.CallSync(methods::kCloseConnections, endpoint(), request)->message.closed(), 1u) << "that of bob";
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_open == 2; }));
  // A call may still be sent on the closed connection; the next one connects again.
  EXPECT_TRUE(Eventually([&] { return Works(*pools_[2]); }));
  EXPECT_EQ(RefusalOf(root, methods::kCloseConnections, pb::CloseConnectionsRequest()), exception::kDoNotRetryIo)
      << "neither a user nor an address";
}

TEST_F(ConnectionsTest, AUserSeesAndClosesTheOwnOnesOnly) {
  ChannelPool& bob = Connect("bob");
  Connect("bob");
  Connect("alice", /*with_certificate=*/true);
  pb::ListConnectionsRequest list;
  EXPECT_EQ(RefusalOf(bob, methods::kListConnections, list), exception::kAccessDenied);
  list.set_user_name("alice");
  EXPECT_EQ(RefusalOf(bob, methods::kListConnections, list), exception::kAccessDenied);
  list.set_user_name("bob");
  EXPECT_EQ(bob.CallSync(methods::kListConnections, endpoint(), list)->message.connection_size(), 2);
  pb::CloseConnectionsRequest close;
  close.set_user_name("alice");
  EXPECT_EQ(RefusalOf(bob, methods::kCloseConnections, close), exception::kAccessDenied);
  close.set_user_name("bob");
  EXPECT_EQ(bob.CallSync(methods::kCloseConnections, endpoint(), close)->message.closed(), 1u);
  ChannelPool& nobody = Connect("");
  list.set_user_name("");
  EXPECT_EQ(RefusalOf(nobody, methods::kListConnections, list), exception::kAccessDenied)
      << "clients without a name have nothing of their own";
}

TEST_F(ConnectionsTest, AnswersAreBounded) {
  ChannelPool& root = Connect("root");
  const std::string endless(60'000, 'u');
  Connect(endless);
  for (int i = 0; i < 5; ++i) Connect("bob");
  pb::ListConnectionsRequest list;
  list.set_most(3);
  const auto some = root.CallSync(methods::kListConnections, endpoint(), list)->message;
  EXPECT_EQ(some.connection_size(), 3);
  EXPECT_EQ(some.left_out(), 4u);
  EXPECT_EQ(some.connection(0).user(), "root") << "the oldest first";
  EXPECT_EQ(some.connection(1).user(), endless.substr(0, kMostShownBytes));
  list.set_user_name(endless);
  EXPECT_EQ(RefusalOf(root, methods::kListConnections, list), exception::kDoNotRetryIo);
}

}  // namespace
}  // namespace ratchet::rpc
