// Users on real TLS connections, S137 (identity is the connection's): the user of every call is its connection's.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/identity/certificate_callers.h"
#include "common/rpc/caller_rules.h"
#include "tests/support/members.h"
#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace ratchet::rpc {
namespace {

using hbase::pb::GetResponse;

constexpr char kClusterKey[] = "proof-the key of this cluster";

class IdentityConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override { Serve("require"); }
  // Answers the user of the call, and how the user has shown it.
  void Serve(const std::string& accept, tls::TlsOptions tls = {}, const std::string& simple_users = "off",
             const std::string& user_from = "cn") {
    options_.user_from = user_from;
    options_.simple_users = simple_users;
    auto callers = identity::CertificateCallers::Open(options_);
    ASSERT_TRUE(callers.ok()) << callers.error().ToString();
    callers_ = *callers;
    tls.accept = accept;
    tls.files.trust = files_.Write("ca", files_.authority().CertificatePem());
    tls.files.certificate = files_.Write("own", *files_.authority().Issue({"server", {"127.0.0.1"}}));
    auto opened = tls::ProcessTls::Open(tls, tls::TlsMaterial::Use::kMember, Millis(10));
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    tls_ = *opened;
    served_ = tls;
    member_ = MakeMember({kClusterKey});
    ServerOptions options;
    options.io_threads = 2;
    options.callers = callers_;
    options.tls = tls_;
    options.member = member_;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    service->On(methods::kGet, [](const CallContext& call, const hbase::pb::GetRequest&, std::string_view,
                                  const Responder<GetResponse>& responder) {
      constexpr std::array<const char*, 3> kBy{"simple", "certificate", "member"};
      responder.Reply({},
                      call.user + "/" + kBy[static_cast<std::size_t>(call.authentication)] + "/" + call.claimed_user);
    });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
    NameMember(*member_, *server_);
  }
  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }
  [[nodiscard]] std::unique_ptr<ChannelPool> PoolOf(const std::shared_ptr<const tls::ProcessTls>& tls,
                                                    const std::string& claims = "root") const {
    ChannelPoolOptions options;
    options.tls = tls;
    options.user = claims;
    return std::make_unique<ChannelPool>(std::move(options));
  }
  [[nodiscard]] std::unique_ptr<ChannelPool> PoolOf(const tls::CertificateRequest& request,
                                                    const std::string& claims = "root") {
    return PoolOf(files_.Make("off", true, request), claims);
  }
  // The answer, or the error.
  [[nodiscard]] std::string Ask(ChannelPool& pool) const {
    const auto answer = pool.CallSync(methods::kGet, endpoint(), MakeGet("r"));
    return answer.ok() ? answer->cells : answer.error().ToString();
  }
  static bool Mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

  TestCertificates files_;
  identity::IdentityOptions options_;
  std::shared_ptr<identity::CertificateCallers> callers_;
  std::shared_ptr<tls::ProcessTls> tls_;
  tls::TlsOptions served_;  // the settings of tls_
  std::shared_ptr<MemberIdentity> member_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(IdentityConnectionTest, TheUserIsTheCertificatesWhateverTheHeaderClaims) {
  EXPECT_EQ(Ask(*PoolOf({"alice", {}})), "alice/certificate/root");
  EXPECT_EQ(Ask(*PoolOf({"alice", {}}, "alice")), "alice/certificate/");
}

TEST_F(IdentityConnectionTest, BelievingTheHeaderIsNoticed) {
  const ScopedMutant mutant("rpc.believe_the_header");
  EXPECT_EQ(Ask(*PoolOf({"alice", {}})), "root/simple/");
}

TEST_F(IdentityConnectionTest, EachOf64MixedUsersIsItself) {
  constexpr int kUsers = 64;
  constexpr int kThreads = 8;
  std::vector<std::unique_ptr<ChannelPool>> pools;
  for (int user = 0; user < kUsers; ++user) pools.push_back(PoolOf({"user" + std::to_string(user), {}}));
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kUsers * 10; ++i) {
        const int user = (i * 7 + thread) % kUsers;
        const std::string answer = Ask(*pools[static_cast<std::size_t>(user)]);
        if (answer == "user" + std::to_string(user) + "/certificate/root")
          ++right;
        else
          ADD_FAILURE() << user << ": " << answer;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right.load(), kThreads * kUsers * 10);
}

TEST_F(IdentityConnectionTest, CertificatesWithoutAUserAreRefusedWithTheReason) {
  tls::CertificateRequest two{"alice", {}};
  two.more_common_names = {"root"};
  EXPECT_TRUE(Mentions(Ask(*PoolOf(two)), "has 2 common names"));
  EXPECT_TRUE(Mentions(Ask(*PoolOf({"@admins", {}})), "begins with '@'"));
  EXPECT_TRUE(Mentions(Ask(*PoolOf({"bob,f", {}})), "gives no user"));
  EXPECT_TRUE(Mentions(Ask(*PoolOf({"bob\nroot", {}})), "control characters"));
  EXPECT_TRUE(Mentions(Ask(*PoolOf({std::string("ro\0ot", 5), {}})), "control characters"));
  EXPECT_EQ(server_->stats().calls_received, 0u);
}

TEST_F(IdentityConnectionTest, PlainTextHasAUserOnlyIfSimpleUsersAreOn) {
  Serve("accept");
  const std::string refused = Ask(*PoolOf(std::shared_ptr<const tls::ProcessTls>(), "bob"));
  EXPECT_TRUE(Mentions(refused, "this client speaks plain text")) << refused;
  EXPECT_TRUE(Mentions(refused, "AccessDenied")) << refused;
  Serve("accept", {}, "on");
  EXPECT_EQ(Ask(*PoolOf(std::shared_ptr<const tls::ProcessTls>(), "bob")), "bob/simple/");
}

TEST_F(IdentityConnectionTest, AClientWithoutACertificateIsRefused) {
  tls::TlsOptions want;
  want.client_certificates = "want";
  Serve("require", want);
  EXPECT_TRUE(Mentions(Ask(*PoolOf(tls::CertificateRequest{})), "this client has shown none"));
}

// S154 (no silent exposure): certificates became required after the client had connected without one.
TEST_F(IdentityConnectionTest, AConnectionWithoutACertificateEndsWhenOneIsNeeded) {
  tls::TlsOptions want;
  want.client_certificates = "want";
  Serve("require", want, "off", "off");
  const auto pool = PoolOf(tls::CertificateRequest{}, "bob");
  const auto shows = PoolOf({"alice", {}}, "bob");
  EXPECT_EQ(Ask(*pool), "bob/simple/");
  EXPECT_EQ(Ask(*shows), "bob/simple/");
  const std::uint64_t before = server_->stats().connections_accepted;
  ASSERT_EQ(server_->stats().connections_open, 2u);
  served_.client_certificates = "need";
  tls_->Want(served_);
  ASSERT_TRUE(Eventually([&] { return tls_->only_certificates(); }));
  EXPECT_NE(Ask(*pool), "bob/simple/");
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_open == 1; }));
  EXPECT_EQ(Ask(*shows), "bob/simple/");
  EXPECT_EQ(server_->stats().connections_accepted, before) << "a client with a certificate stays connected";
}

TEST_F(IdentityConnectionTest, AMemberNeedsNoUser) {
  options_.user_rules = files_.Write("rules", "alice alice\n");
  Serve("require");
  ChannelPoolOptions options;
  options.tls = files_.Make("off", true, {"node1", {}});
  options.user = "regionserver";
  options.member = MakeMember({kClusterKey});
  ChannelPool members(std::move(options));
  EXPECT_EQ(Ask(members), "regionserver/member/");
  EXPECT_TRUE(Mentions(Ask(*PoolOf({"node1", {}})), "matches no rule"));
}

TEST_F(IdentityConnectionTest, AConnectionEndsWhenItsUserWouldBeAnother) {
  const std::string rules = files_.Write("rules", "alice alice\n");
  options_.user_rules = rules;
  Serve("require");
  const auto pool = PoolOf({"alice", {}});
  EXPECT_EQ(Ask(*pool), "alice/certificate/root");
  const std::uint64_t before = server_->stats().connections_accepted;
  callers_->LookSoon();  // the same rules: the connection stays
  EXPECT_EQ(Ask(*pool), "alice/certificate/root");
  EXPECT_EQ(server_->stats().connections_accepted, before);
  EXPECT_EQ(files_.Write("rules", "alice eve\n"), rules);
  callers_->LookSoon();
  EXPECT_TRUE(Eventually([&] { return Ask(*pool) == "eve/certificate/root"; }));
}

TEST_F(IdentityConnectionTest, ARevokedCertificateEndsItsConnectionAndOpensNoOther) {
  tls::TlsOptions tls;
  tls.files.revoked = files_.Write("revoked", *files_.authority().RevocationList({}, 1));
  Serve("require", tls);
  const std::string certificate = *files_.authority().Issue({"alice", {}});
  const auto alice = PoolOf(files_.MakeOf(certificate));
  const auto bob = PoolOf({"bob", {}});
  EXPECT_EQ(Ask(*alice), "alice/certificate/root");
  EXPECT_EQ(Ask(*bob), "bob/certificate/root");
  EXPECT_EQ(files_.Write("revoked", *files_.authority().RevocationList({certificate}, -1)), tls.files.revoked);
  ASSERT_TRUE(Eventually([&] { return Mentions(Ask(*alice), "certificate revoked"); })) << Ask(*alice);
  EXPECT_EQ(Ask(*bob), "bob/certificate/root");
  const auto problems = tls_->Problems();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(Mentions(problems.front(), "out of date")) << problems.front();
}

TEST_F(IdentityConnectionTest, TakingARevokedCertificateIsNoticed) {
  const ScopedMutant mutant("tls.take_the_revoked");
  const std::string certificate = *files_.authority().Issue({"alice", {}});
  tls::TlsOptions tls;
  tls.files.revoked = files_.Write("revoked", *files_.authority().RevocationList({certificate}, 1));
  Serve("require", tls);
  EXPECT_EQ(Ask(*PoolOf(files_.MakeOf(certificate))), "alice/certificate/root");
}

TEST_F(IdentityConnectionTest, AListThatCannotBeUsedChangesNothing) {
  tls::TlsOptions tls;
  tls.files.revoked = files_.Write("revoked", *files_.authority().RevocationList({}, 1));
  Serve("require", tls);
  const auto alice = PoolOf({"alice", {}});
  const auto other = tls::CertificateAuthority::Make("test authority", 10);  // of the same name
  const std::string good = *files_.authority().RevocationList({}, 1);
  for (const std::string& text :
       {std::string("nothing"), good.substr(0, good.size() / 2), *(*other)->RevocationList({}, 1)}) {
    EXPECT_FALSE(files_.Write("revoked", text).empty());
    EXPECT_TRUE(Eventually([&] { return !tls_->Problems().empty(); })) << text;
    EXPECT_EQ(Ask(*alice), "alice/certificate/root");
    EXPECT_FALSE(files_.Write("revoked", good).empty());
    EXPECT_TRUE(Eventually([&] { return tls_->Problems().empty(); }));
  }
}

TEST_F(IdentityConnectionTest, AConnectionEndsAtItsAge) {
  tls::TlsOptions tls;
  tls.connection_age = Millis(100);
  Serve("require", tls);
  const auto alice = PoolOf({"alice", {}});
  EXPECT_EQ(Ask(*alice), "alice/certificate/root");
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_open == 0; }));
  EXPECT_TRUE(Eventually([&] { return Ask(*alice) == "alice/certificate/root"; }));
}

}  // namespace
}  // namespace ratchet::rpc
