// Open connections with TLS: each call, its handler thread and its audit line have the user of their connection (test 8
// of identity), and an idle connection ends like a busy one (test 30).
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "common/identity/certificate_callers.h"
#include "common/rpc/call_audit.h"
#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace ratchet::rpc {
namespace {

using hbase::pb::GetResponse;

// Notes the users of connections and calls, and admits every call.
class NotingAudit final : public CallAudit {
 public:
  void Authenticated(const AuditedConnection& connection, std::string_view /*why*/) override {
    Note("auth", connection);
  }
  void Member(const AuditedConnection&, std::string_view, std::string_view) override {}
  bool Wants(const CallContext&, bool) const override { return true; }
  void Admit(const CallContext& context, const Connection& connection, const google::protobuf::MessageLite& request,
             Done done) override {
    const auto& get = static_cast<const hbase::pb::GetRequest&>(request);
    Note(context.user == connection->user && get.get().row() == context.user ? "call" : "mixed", *connection);
    done(Ok());
  }
  void Answered(const CallContext&, const Connection&, const google::protobuf::MessageLite&,
                const google::protobuf::MessageLite&) override {}
  void Denied(const CallContext&, const Connection& connection, std::string_view) override {
    Note("deny", *connection);
  }
  [[nodiscard]] std::map<std::string, int> LinesOf(const std::string& event) {
    const MutexLock lock(mutex_);
    return lines_[event];
  }

 private:
  void Note(const std::string& event, const AuditedConnection& connection) {
    const MutexLock lock(mutex_);
    ++lines_[event][connection.user];
  }
  Mutex mutex_;
  std::map<std::string, std::map<std::string, int>> lines_ GUARDED_BY(mutex_);  // event, user
};

class ConnectionLifeTest : public ::testing::Test {
 protected:
  static constexpr int kHandlers = 4;

  void Serve(const std::string& accept) {
    identity::IdentityOptions identity;
    identity.user_from = "cn";
    identity.simple_users = accept == "accept" ? "on" : "off";
    auto callers = identity::CertificateCallers::Open(identity);
    ASSERT_TRUE(callers.ok()) << callers.error().ToString();
    tls_options_.accept = accept;
    tls_options_.files.trust = files_.Write("ca", files_.authority().CertificatePem());
    tls_options_.files.certificate = files_.Write("own", *files_.authority().Issue({"server", {"127.0.0.1"}}));
    tls_options_.files.revoked = files_.Write("revoked", *files_.authority().RevocationList({}, 1));
    auto opened = tls::ProcessTls::Open(tls_options_, tls::TlsMaterial::Use::kMember, Millis(10));
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    tls_ = *opened;
    ServerOptions options;
    options.io_threads = 2;
    options.queues[0].threads = kHandlers;
    options.callers = *callers;
    options.tls = tls_;
    options.audit = audit_;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    service->On(methods::kGet, [this](const CallContext& call, const hbase::pb::GetRequest& request, std::string_view,
                                      const Responder<GetResponse>& responder) {
      const MutexLock lock(mutex_);
      threads_[call.user].insert(std::this_thread::get_id());
      if (request.get().row() == "hold")
        held_.push_back(responder);
      else
        responder.Reply({}, call.user);
    });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
  }
  void TearDown() override {
    const MutexLock lock(mutex_);
    held_.clear();
  }
  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }
  [[nodiscard]] static std::unique_ptr<ChannelPool> PoolOf(const std::shared_ptr<const tls::ProcessTls>& tls) {
    ChannelPoolOptions options;
    options.tls = tls;
    options.user = "root";
    return std::make_unique<ChannelPool>(std::move(options));
  }
  // The user that the server has seen, or the error.
  [[nodiscard]] std::string Ask(ChannelPool& pool, const std::string& row) const {
    const auto answer = pool.CallSync(methods::kGet, endpoint(), MakeGet(row));
    return answer.ok() ? answer->cells : answer.error().ToString();
  }
  bool EachOnEachThread(int users) {
    const MutexLock lock(mutex_);
    for (int user = 0; user < users; ++user) {
      if (threads_["user" + std::to_string(user)].size() < kHandlers) return false;
    }
    return true;
  }
  // Idle connections are judged every 20 seconds.
  [[nodiscard]] bool EndedBut(std::size_t open) {
    for (int wait = 0; wait < 6; ++wait) {  // of 10 seconds each
      if (Eventually([&] { return server_->stats().connections_open == open; })) return true;
    }
    return false;
  }
  std::size_t held() {
    const MutexLock lock(mutex_);
    return held_.size();
  }

  TestCertificates files_;
  tls::TlsOptions tls_options_;
  std::shared_ptr<tls::ProcessTls> tls_;
  const std::shared_ptr<NotingAudit> audit_ = std::make_shared<NotingAudit>();
  Mutex mutex_;
  std::map<std::string, std::set<std::thread::id>> threads_ GUARDED_BY(mutex_);  // handler threads, by user
  std::vector<Responder<GetResponse>> held_ GUARDED_BY(mutex_);
  std::unique_ptr<RpcServer> server_;
};

TEST_F(ConnectionLifeTest, EachOf64UsersIsItselfOnEachThreadAndInEachLine) {
  constexpr int kUsers = 64;
  constexpr int kCallers = 8;
  Serve("require");
  std::vector<std::unique_ptr<ChannelPool>> pools;
  for (int user = 0; user < kUsers; ++user)
    pools.push_back(PoolOf(files_.Make("off", true, {"user" + std::to_string(user), {}})));
  std::atomic<int> calls{0};
  const TimePoint deadline = SystemClock().Now() + Millis(60'000);
  while (!EachOnEachThread(kUsers) && SystemClock().Now() < deadline) {
    std::vector<std::thread> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.emplace_back([&, caller] {
        for (int i = 0; i < kUsers * 4; ++i) {
          const int user = (i * 7 + caller) % kUsers;
          const std::string name = "user" + std::to_string(user);
          const std::string answer = Ask(*pools[static_cast<std::size_t>(user)], name);
          EXPECT_EQ(answer, name);
          ++calls;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
  EXPECT_TRUE(EachOnEachThread(kUsers));
  EXPECT_TRUE(audit_->LinesOf("mixed").empty()) << audit_->LinesOf("mixed").begin()->first;
  const auto lines = audit_->LinesOf("call");
  int all = 0;
  for (const auto& [user, count] : lines) {
    EXPECT_EQ(count, calls.load() / kUsers) << user;
    all += count;
  }
  EXPECT_EQ(lines.size(), std::size_t{kUsers});
  EXPECT_EQ(all, calls.load());
  EXPECT_EQ(audit_->LinesOf("auth").size(), std::size_t{kUsers});
}

// Alice has an idle connection, and another one with a call in progress.
TEST_F(ConnectionLifeTest, ConnectionsOfARevokedClientEndWithoutAnotherCall) {
  Serve("require");
  const std::string certificate = *files_.authority().Issue({"alice", {}});
  const auto idle = PoolOf(files_.MakeOf(certificate));
  const auto busy = PoolOf(files_.MakeOf(certificate));
  const auto bob = PoolOf(files_.Make("off", true, {"bob", {}}));
  ASSERT_EQ(Ask(*idle, "r"), "alice");
  ASSERT_EQ(Ask(*bob, "r"), "bob");
  std::string answer;
  std::thread waiting([&] { answer = Ask(*busy, "hold"); });
  EXPECT_TRUE(Eventually([this] { return held() == 1; }));
  EXPECT_FALSE(files_.Write("revoked", *files_.authority().RevocationList({certificate}, 1)).empty());
  EXPECT_TRUE(EndedBut(1));
  waiting.join();
  EXPECT_NE(answer, "alice");
  EXPECT_EQ(Ask(*bob, "r"), "bob");
  EXPECT_TRUE(Eventually([&] { return Ask(*idle, "r").find("certificate revoked") != std::string::npos; }));
}

// S162 (require ends plain text)
TEST_F(ConnectionLifeTest, AnIdleConnectionInPlainTextEndsWhenTlsIsRequired) {
  Serve("accept");
  const auto plain = PoolOf(nullptr);
  ASSERT_EQ(Ask(*plain, "r"), "root");
  tls_options_.accept = "require";
  tls_->Want(tls_options_);
  EXPECT_TRUE(EndedBut(0));
  // A call on the connection that has just ended fails otherwise.
  EXPECT_TRUE(Eventually([&] { return Ask(*plain, "r").find("TLS only") != std::string::npos; }));
}

}  // namespace
}  // namespace ratchet::rpc
