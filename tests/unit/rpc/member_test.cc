// S77 (members only): requests that only the cluster's own processes may send are accepted only on connections whose
// client has proven that it has the cluster's key.
#include <memory>

#include "common/base/mutant.h"
#include "common/rpc/methods/client_service.h"
#include "tests/support/members.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using hbase::pb::GetResponse;

using MemberMethod = Method<hbase::pb::GetRequest, GetResponse>;
constexpr MemberMethod kOrder{methods::kClientService, "Order", Effect::kChanges, rights::Need::Member()};
constexpr MemberMethod kKeepMeta{methods::kClientService, "KeepMeta", Effect::kChanges, rights::Need::Any()};

class MemberTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    const auto own = MakeMember({"the key"});
    options.member = own;
    options.max_call_bytes = 128u << 10;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    const auto answer = [this](const CallContext& call, const hbase::pb::GetRequest&, std::string_view,
                               const Responder<GetResponse>& responder) {
      (call.member ? members_ : strangers_).fetch_add(1);
      responder.Reply({});
    };
    service->On(methods::kGet, answer);
    service->On(kOrder, answer, {QueueClass::kTransition});
    const auto keep = [this](const CallContext&, const hbase::pb::GetRequest&, std::string_view,
                             const Responder<GetResponse>& responder) {
      const MutexLock lock(mutex_);
      kept_.push_back(responder);
      added_.NotifyAll();
    };
    service->On(kKeepMeta, keep, {QueueClass::kMeta});
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
    NameMember(*own, *server_);
  }
  void TearDown() override {
    std::vector<Responder<GetResponse>> kept;
    {
      const MutexLock lock(mutex_);
      kept.swap(kept_);
    }
    for (const auto& responder : kept) responder.Reply({});
    kept.clear();
    if (client_ != nullptr) client_->Stop();
    server_->Stop();
  }
  Result<Reply<GetResponse>> Call(const std::string& key, const MemberMethod& method, const std::string& row = "r") {
    ChannelPool pool(key.empty() ? ChannelPoolOptions() : MemberPool(key));
    return pool.CallSync(method, {"127.0.0.1", server_->port()}, MakeGet(row));
  }
  bool StrangersAreRefused() {
    const auto stranger = Call("", kOrder);
    bool refused = !stranger.ok() && IsClass(stranger.error(), exception::kAccessDenied);
    // Those see that the server has another key, and send nothing.
    for (const char* key : {"another key", "the key ", "the ke"}) {
      const auto answer = Call(key, kOrder);
      refused = refused && !answer.ok() && IsClass(answer.error(), kNotSent);
    }
    return refused;
  }

  std::atomic<int> members_{0};
  std::atomic<int> strangers_{0};
  Mutex mutex_;
  CondVar added_;
  std::vector<Responder<GetResponse>> kept_ GUARDED_BY(mutex_);
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ChannelPool> client_;
};

TEST_F(MemberTest, StrangersAreRefusedAndMembersAreNot) {
  EXPECT_TRUE(StrangersAreRefused());
  EXPECT_EQ(members_ + strangers_, 0) << "refused before any handler";
  EXPECT_TRUE(Call("the key", kOrder).ok());
  EXPECT_EQ(members_, 1);
}

TEST_F(MemberTest, OtherMethodsAreForEveryoneAndSeeTheDifference) {
  EXPECT_TRUE(Call("", methods::kGet).ok());
  EXPECT_TRUE(Call("the key", methods::kGet).ok());
  EXPECT_EQ(strangers_, 1);
  EXPECT_EQ(members_, 1);
}

// S78 (members' own queues). Bytes of requests are also reserved for members, whatever clients send to the other
// queues.
TEST_F(MemberTest, ClientsCannotTakeTheBytesOfMembers) {
  client_ = std::make_unique<ChannelPool>(ChannelPoolOptions{});
  const auto channel = client_->Get(methods::kClientService, {"127.0.0.1", server_->port()});
  // Each of about 17 KiB, in its frame and parsed: 160 KiB are admitted.
  const auto refused = std::make_shared<bool>(false);  // calls that are kept end after this test's body
  const auto is_refused = [&] {
    const MutexLock lock(mutex_);
    return *refused;
  };
  std::size_t sent = 0;
  while (!is_refused() && sent < 20) {
    ++sent;
    channel->Call(kKeepMeta, MakeGet(std::string(8u << 10, 'x')), {}, [this, refused](const auto& answer) {
      const MutexLock lock(mutex_);
      *refused = *refused || !answer.ok();
      added_.NotifyAll();
    });
    MutexLock lock(mutex_);
    while (kept_.size() < sent && !*refused) added_.Wait(mutex_);
  }
  EXPECT_GE(sent, 8u);
  EXPECT_LT(sent, 12u);
  const auto client = Call("", kKeepMeta, std::string(8u << 10, 'x'));
  ASSERT_FALSE(client.ok());
  EXPECT_TRUE(IsClass(client.error(), exception::kCallQueueTooBig)) << client.error().ToString();
  const auto member = Call("the key", kOrder, std::string(8u << 10, 'x'));
  EXPECT_TRUE(member.ok()) << member.error().ToString();
}

#if defined(RATCHET_MUTANTS)
TEST_F(MemberTest, BelievingEveryoneIsCaught) {
  const ScopedMutant mutant("rpc.anybody_is_member");
  EXPECT_FALSE(StrangersAreRefused());
  EXPECT_TRUE(Call("", kOrder).ok());
}
#endif

}  // namespace
}  // namespace ratchet::rpc
