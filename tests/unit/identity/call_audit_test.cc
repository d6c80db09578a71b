// The place of the audit in the RPC server, S138 (audited before it runs): which calls wait for their line, and that no
// thread waits with them.
#include "common/rpc/call_audit.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/rights/judge.h"
#include "tests/support/members.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using hbase::pb::GetResponse;
using hbase::pb::MutateResponse;

// Keeps the answers until Answer.
class HeldAudit final : public CallAudit {
 public:
  void Authenticated(const AuditedConnection& connection, std::string_view why) override {
    Note("auth " + connection.user + std::string(why));
  }
  void Member(const AuditedConnection&, std::string_view name, std::string_view why) override {
    Note("member " + std::string(name) + std::string(why));
  }
  bool Wants(const CallContext& context, bool changes) const override { return changes && !context.member; }
  void Admit(const CallContext& context, const Connection& connection, const google::protobuf::MessageLite&,
             Done done) override {
    Note("change " + connection->user + " " + context.method);
    const MutexLock lock(mutex_);
    held_.push_back(std::move(done));
  }
  void Answered(const CallContext& context, const Connection& connection, const google::protobuf::MessageLite&,
                const google::protobuf::MessageLite&) override {
    Note("answered " + connection->user + " " + context.method);
  }
  void Denied(const CallContext& context, const Connection& connection, std::string_view) override {
    Note("deny " + connection->user + " " + context.method);
  }
  void Answer(const Status& status) {
    std::vector<Done> held;
    {
      const MutexLock lock(mutex_);
      held.swap(held_);
    }
    for (Done& done : held) done(status);
  }
  [[nodiscard]] std::size_t held() {
    const MutexLock lock(mutex_);
    return held_.size();
  }
  [[nodiscard]] std::vector<std::string> notes() {
    const MutexLock lock(mutex_);
    return notes_;
  }

 private:
  void Note(std::string note) {
    const MutexLock lock(mutex_);
    notes_.push_back(std::move(note));
  }
  Mutex mutex_;
  std::vector<Done> held_ GUARDED_BY(mutex_);
  std::vector<std::string> notes_ GUARDED_BY(mutex_);
};

class CallAuditTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.audit = audit_;
    for (QueueOptions& queue : options.queues) queue.threads = 1;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    service->On(methods::kGet, [](const CallContext& call, const hbase::pb::GetRequest&, std::string_view,
                                  const Responder<GetResponse>& responder) {
      if (call.user == "stranger") responder.NoteDenied(RemoteError(exception::kAccessDenied, "a part of it"));
      responder.NoteDenied(RemoteError(exception::kDoNotRetryIo, "another error"));
      responder.Reply({});
    });
    service->On(methods::kMutate, [this](const CallContext& call, const hbase::pb::MutateRequest&, std::string_view,
                                         const Responder<MutateResponse>& responder) {
      ++ran_;
      if (call.user == "stranger") {
        responder.Fail(RemoteError(exception::kAccessDenied, "no right"));
      } else {
        responder.Reply({});
      }
    });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
  }
  // One call by a client of this name, on a thread of its own.
  void Call(const std::string& user) {
    callers_.emplace_back([this, user] {
      ChannelPoolOptions options;
      options.user = user;
      ChannelPool pool(std::move(options));
      const auto answer = pool.CallSync(methods::kMutate, endpoint(), MakePut("r"));
      (answer.ok() ? answered_ : refused_).fetch_add(1);
    });
  }
  void TearDown() override {
    audit_->Answer(Ok());
    for (std::thread& caller : callers_) caller.join();
  }
  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }

  const std::shared_ptr<HeldAudit> audit_ = std::make_shared<HeldAudit>();
  std::unique_ptr<RpcServer> server_;
  std::vector<std::thread> callers_;
  std::atomic<int> ran_{0}, answered_{0}, refused_{0};
};

TEST_F(CallAuditTest, AChangeRunsAfterItsLineAndHoldsNoThread) {
  for (const char* user : {"a", "b", "c"}) Call(user);
  ASSERT_TRUE(Eventually([&] { return audit_->held() == 3; })) << "one handler thread took all three";
  EXPECT_EQ(ran_.load(), 0);
  ChannelPool reader({});
  EXPECT_TRUE(reader.CallSync(methods::kGet, endpoint(), MakeGet("r")).ok()) << "a query needs no line";
  audit_->Answer(Ok());
  ASSERT_TRUE(Eventually([&] { return answered_.load() == 3; }));
  EXPECT_EQ(ran_.load(), 3);
  const auto notes = audit_->notes();
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "answered b Mutate"), 1) << "for the procedures in its answer";
  EXPECT_EQ(std::count_if(notes.begin(), notes.end(), [](const auto& note) { return note.starts_with("answered"); }), 3)
      << "and not of the query";
}

TEST_F(CallAuditTest, RunningBeforeTheLineIsNoticed) {
  const ScopedMutant mutant("audit.run_before_the_line");
  Call("a");
  ASSERT_TRUE(Eventually([&] { return answered_.load() == 1; }));
  EXPECT_EQ(ran_.load(), 1);
  EXPECT_EQ(audit_->held(), 0u);
}

TEST_F(CallAuditTest, AChangeWithoutALineIsRefused) {
  Call("a");
  ASSERT_TRUE(Eventually([&] { return audit_->held() == 1; }));
  audit_->Answer(RemoteError(exception::kDoNotRetryIo, "the audit log has no room"));
  ASSERT_TRUE(Eventually([&] { return refused_.load() == 1; }));
  EXPECT_EQ(ran_.load(), 0);
}

TEST_F(CallAuditTest, RefusalsAndUsersAreNoted) {
  Call("stranger");
  ASSERT_TRUE(Eventually([&] { return audit_->held() == 1; }));
  audit_->Answer(Ok());
  ASSERT_TRUE(Eventually([&] { return refused_.load() == 1; }));
  const std::vector<std::string> expected{"auth stranger", "change stranger Mutate", "deny stranger Mutate"};
  EXPECT_EQ(audit_->notes(), expected);
}

TEST_F(CallAuditTest, RefusedPartsOfAnAnsweredCallAreNoted) {
  ChannelPoolOptions options;
  options.user = "stranger";
  ChannelPool pool(std::move(options));
  EXPECT_TRUE(pool.CallSync(methods::kGet, endpoint(), MakeGet("r")).ok());
  const std::vector<std::string> expected{"auth stranger", "deny stranger Get"};
  EXPECT_EQ(audit_->notes(), expected);
}

// A change is judged before and after it waits for its line. In the mode log it would be denied once.
TEST_F(CallAuditTest, AChangeThatWouldBeDeniedIsCountedOnce) {
  rights::RightsHolder holder;
  ASSERT_TRUE(holder.Take(std::make_shared<const rights::RightsImage>()));
  const auto users = std::make_shared<rights::Users>();
  users->Set(rights::Mode::kLog, {});
  const rights::Judge judge(holder, users);
  ServerOptions options;
  options.audit = audit_;
  options.judge = &judge;
  server_ = std::make_unique<RpcServer>(std::move(options));
  constexpr Method<hbase::pb::MutateRequest, MutateResponse> kGuarded{
      methods::kClientService, "Guarded", Effect::kChanges, rights::Need::Global(rights::Action::kAdmin)};
  auto service = std::make_shared<Service>(methods::kClientService);
  service->On(kGuarded, [](const CallContext&, const hbase::pb::MutateRequest&, std::string_view,
                           const Responder<MutateResponse>& responder) { responder.Reply({}); });
  server_->Add(service);
  ASSERT_TRUE(server_->Start().ok());
  const auto call = [&] {
    ChannelPool pool({});
    const auto answer = pool.CallSync(kGuarded, endpoint(), MakePut("r"));
    (answer.ok() ? answered_ : refused_).fetch_add(1);
  };
  callers_.emplace_back(call);
  ASSERT_TRUE(Eventually([&] { return audit_->held() == 1; }));
  audit_->Answer(Ok());
  ASSERT_TRUE(Eventually([&] { return answered_.load() == 1; }));
  EXPECT_EQ(judge.would_be_refused(), 1U);
  EXPECT_EQ(server_->stats().rights_would_refuse, 1U);
  EXPECT_EQ(server_->stats().rights_refused, 0U);
  // A right that was taken meanwhile refuses the call.
  callers_.emplace_back(call);
  ASSERT_TRUE(Eventually([&] { return audit_->held() == 1; }));
  users->Set(rights::Mode::kEnforce, {});
  audit_->Answer(Ok());
  ASSERT_TRUE(Eventually([&] { return refused_.load() == 1; }));
  EXPECT_EQ(server_->stats().rights_refused, 1U);
  server_.reset();  // before its judge
}

TEST_F(CallAuditTest, AnswersAfterTheEndOfTheServerAreDropped) {
  Call("a");
  ASSERT_TRUE(Eventually([&] { return audit_->held() == 1; }));
  server_.reset();
  audit_->Answer(Ok());
  EXPECT_EQ(ran_.load(), 0);
  ASSERT_TRUE(Eventually([&] { return refused_.load() == 1; }));
}

}  // namespace
}  // namespace ratchet::rpc
