// S123 (only a proof makes a member) on real connections: false servers, servers and clients of versions before 0.3,
// keys that are replaced, and clients that do not finish the proof.
#include "common/base/mutant.h"
#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "common/rpc/member_key_file.h"
#include "common/rpc/methods/client_service.h"
#include "tests/support/members.h"
#include "tests/support/tcp_forwarder.h"
#include "tests/unit/rpc/false_server.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;
using hbase::pb::GetResponse;

constexpr char kNewKey[] = "proof-the key of this cluster";
constexpr char kOldKey[] = "0123456789abcdef0123456789abcdef";
constexpr Method<hbase::pb::GetRequest, GetResponse> kMembersOrder{methods::kClientService, "Order", Effect::kChanges,
                                                                   rights::Need::Member()};

// The response of a server that offers SIMPLE authentication only.
std::string OldServersRefusal() {
  return ConnectionExceptionFrame(RemoteError(exception::kBadAuth, "only SIMPLE (80)"));
}

class MemberConnectionTest : public ::testing::Test {
 protected:
  // A server with members-only methods, whose keys a test may change.
  void Serve(std::vector<std::string> keys, ProofPolicy policy = ProofPolicy::kRequired,
             Millis setup = Millis(10'000)) {
    own_ = MakeMember(std::move(keys), policy);
    ServerOptions options;
    options.member = own_;
    options.setup_timeout = setup;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    const auto answer = [](const CallContext&, const hbase::pb::GetRequest&, std::string_view,
                           const Responder<GetResponse>& responder) { responder.Reply({}); };
    service->On(methods::kGet, answer);
    service->On(kMembersOrder, answer, {QueueClass::kTransition});
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
    NameMember(*own_, *server_);
  }
  [[nodiscard]] Endpoint Here() const { return {"127.0.0.1", server_->port()}; }

  static Result<Reply<GetResponse>> OrderBy(const std::shared_ptr<const MemberIdentity>& member,
                                            const Endpoint& endpoint, Millis timeout = Millis(10'000)) {
    ChannelPoolOptions options;
    options.member = member;
    ChannelPool pool(std::move(options));
    CallOptions call;
    call.timeout = timeout;
    return pool.CallSync(kMembersOrder, endpoint, MakeGet("r"), call);
  }
  Result<Reply<GetResponse>> OrderWith(const std::string& key, ProofPolicy policy = ProofPolicy::kRequired) const {
    return OrderBy(MakeMember({key}, policy), Here());
  }

  std::shared_ptr<MemberIdentity> own_;
  std::unique_ptr<RpcServer> server_;
};

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Connects to a false server, and returns true if that has got only the client's hello.
bool LearnsNothing(const std::string& reply, const std::string& key, ProofPolicy policy, const std::string& expected) {
  FalseServer server(reply);
  const auto member = MakeMember({key}, policy);
  ChannelPoolOptions options;
  options.member = member;
  ChannelPool pool(std::move(options));
  CallOptions call;
  call.timeout = Millis(2'000);
  const auto answer = pool.CallSync(kMembersOrder, {"127.0.0.1", server.port()}, MakeGet("r"), call);
  pool.Stop();
  const auto problems = member->Problems();
  const bool told = problems.size() == 1 && Contains(problems.front(), expected) &&
                    Contains(problems.front(), JoinHostPort("127.0.0.1", server.port()));
  EXPECT_TRUE(told) << (problems.empty() ? "no problem is shown" : problems.front());
  EXPECT_FALSE(answer.ok());
  EXPECT_TRUE(answer.ok() || (IsClass(answer.error(), kNotSent) && Contains(answer.error().message(), expected)))
      << answer.error().ToString();
  const std::string seen = server.seen();
  constexpr std::size_t kHello = kPreambleBytes + 4 + 1 + kNonceBytes + 1 + 2 + sizeof("127.0.0.1,1,1") - 1;
  return !Contains(seen, key) && !Contains(seen, DeriveMemberKey(key).derived) && seen.size() == kHello;
}

TEST_F(MemberConnectionTest, AFalseServerLearnsNeitherKeyNorProof) {
  for (const char* key : {kNewKey, kOldKey}) {
    EXPECT_TRUE(LearnsNothing(OldServersRefusal(), key, ProofPolicy::kRequired, "no such authentication"));
    EXPECT_TRUE(LearnsNothing(ServerRefusal("a.Class", "go away"), key, ProofPolicy::kRequired, "go away"));
    EXPECT_TRUE(
        LearnsNothing("HTTP/1.1 400 Bad Request\r\n", key, ProofPolicy::kRequired, "not one of the member proof"));
  }
  EXPECT_TRUE(LearnsNothing(OldServersRefusal(), kNewKey, ProofPolicy::kByKey, "no such authentication"))
      << "a key of version 0.3 is never sent";
}

// It cannot know the client's port before it listens, so the answer is made for each attempt.
TEST_F(MemberConnectionTest, AServerWithAnotherKeyLearnsNothing) {
  Serve({"proof-another cluster's key"});
  const auto member = MakeMember({kNewKey});
  const auto answer = OrderBy(member, Here());
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(IsClass(answer.error(), kNotSent)) << answer.error().ToString();
  EXPECT_TRUE(Contains(answer.error().message(), "wrong proof")) << answer.error().ToString();
  ASSERT_EQ(member->Problems().size(), 1u);
  EXPECT_TRUE(Contains(member->Problems().front(), "wrong proof")) << member->Problems().front();
  EXPECT_EQ(server_->stats().calls_received, 0u);
}

// ZooKeeper or a name service may lead to another member: its proof is right, and it is not the wanted server.
TEST_F(MemberConnectionTest, AnotherMemberBehindTheAddressGetsNoRequest) {
  Serve({kNewKey});
  testing_support::TcpForwarder relay;
  relay.LeadTo(server_->port());
  const auto member = MakeMember({kNewKey});
  const auto answer = OrderBy(member, {"127.0.0.1", relay.port()});
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(Contains(answer.error().message(), "wrong name")) << answer.error().ToString();
  ASSERT_EQ(member->Problems().size(), 1u);
  EXPECT_TRUE(Contains(member->Problems().front(), "wrong name")) << member->Problems().front();
  EXPECT_EQ(server_->stats().calls_received, 0u);
}

TEST_F(MemberConnectionTest, AProblemEndsWithTheProof) {
  Serve({"proof-another cluster's key"});
  const auto member = MakeMember({kNewKey});
  ASSERT_FALSE(OrderBy(member, Here()).ok());
  ASSERT_EQ(member->Problems().size(), 1u);
  own_->SetKeys({kNewKey});
  EXPECT_TRUE(OrderBy(member, Here()).ok());
  EXPECT_TRUE(member->Problems().empty());
}

TEST_F(MemberConnectionTest, TheKeyInClearIsTakenAsThePolicySays) {
  struct Case {
    const char* key;
    ProofPolicy policy;
    bool taken;
  };
  for (const Case& one : {Case{kOldKey, ProofPolicy::kAccept, true}, Case{kOldKey, ProofPolicy::kByKey, true},
                          Case{kOldKey, ProofPolicy::kRequired, false}, Case{kNewKey, ProofPolicy::kAccept, true},
                          Case{kNewKey, ProofPolicy::kByKey, false}, Case{kNewKey, ProofPolicy::kRequired, false}}) {
    Serve({one.key}, one.policy);
    const auto shown = [&](const std::string& key) {
      RawClient client(server_->port());
      client.Send(ClientHello("rs", std::string(methods::kClientService), false, key));
      client.Send(RequestFrame(1, "Order", MakeGet("r")));
      const auto answer = ParseAnswer(client.ReadFrame());
      return !answer.header.has_exception();
    };
    EXPECT_EQ(shown(one.key), one.taken) << one.key << static_cast<int>(one.policy);
    EXPECT_FALSE(shown(""));
    EXPECT_FALSE(shown(std::string(one.key) + "x"));
    EXPECT_FALSE(shown(std::string(one.key).substr(1)));
    EXPECT_TRUE(OrderWith(one.key).ok()) << "the proof is taken in any case";
  }
}

// A server without an identity answers like one of a version before 0.3.
bool TheKeyIsShownToOldServersAsThePolicySays() {
  bool as_said = true;
  for (const auto& [key, policy, shown] : {std::tuple{kOldKey, ProofPolicy::kAccept, true},
                                           {kOldKey, ProofPolicy::kByKey, true},
                                           {kOldKey, ProofPolicy::kRequired, false},
                                           {kNewKey, ProofPolicy::kAccept, true},
                                           {kNewKey, ProofPolicy::kByKey, false},
                                           {kNewKey, ProofPolicy::kRequired, false}}) {
    FalseServer server(OldServersRefusal());
    const auto member = MakeMember({key}, policy);
    ChannelPoolOptions options;
    options.member = member;
    ChannelPool pool(std::move(options));
    // The server never answers the call: it ends when the pool stops.
    pool.Call(kMembersOrder, {"127.0.0.1", server.port()}, MakeGet("r"), {}, [](const auto&) {});
    const auto told = [&] { return member->Problems().size() == 1; };
    const auto seen = [&, wanted = key] { return Contains(server.seen(), wanted); };
    as_said = as_said && Eventually(told) && Contains(member->Problems().front(), "sent in clear") == shown;
    as_said = as_said && (!shown || Eventually(seen));
    pool.Stop();
    as_said = as_said && seen() == shown;
  }
  return as_said;
}

TEST_F(MemberConnectionTest, TheKeyIsShownToOldServersAsThePolicySaysAndThatIsShown) {
  EXPECT_TRUE(TheKeyIsShownToOldServersAsThePolicySays());
}

TEST_F(MemberConnectionTest, CallsThatWaitAreKeptForAServerOfAnOlderVersion) {
  RpcServer old{ServerOptions{}};
  auto service = std::make_shared<Service>(methods::kClientService);
  service->On(methods::kGet, [](const CallContext&, const hbase::pb::GetRequest&, std::string_view,
                                const Responder<GetResponse>& responder) { responder.Reply({}); });
  old.Add(service);
  ASSERT_TRUE(old.Start().ok());
  ChannelPoolOptions options;
  options.member = MakeMember({kOldKey}, ProofPolicy::kAccept);
  ChannelPool pool(std::move(options));
  EXPECT_TRUE(pool.CallSync(methods::kGet, {"127.0.0.1", old.port()}, MakeGet("r")).ok());
  pool.Stop();
  old.Stop();
}

TEST_F(MemberConnectionTest, KeysAreReplacedWithoutARefusal) {
  Serve({kOldKey});
  const auto client = MakeMember({kOldKey});
  ChannelPoolOptions options;
  options.member = client;
  ChannelPool pool(std::move(options));
  // A connection that is closed in between is an error of one call, after which the next one connects.
  const auto works = [&] {
    return Eventually([&] { return pool.CallSync(kMembersOrder, Here(), MakeGet("r")).ok(); });
  };
  ASSERT_TRUE(works());
  own_->SetKeys({kOldKey, kNewKey});
  EXPECT_TRUE(works());
  client->SetKeys({kNewKey, kOldKey});
  EXPECT_TRUE(works());
  own_->SetKeys({kNewKey});
  EXPECT_TRUE(works());
  client->SetKeys({kNewKey});
  EXPECT_TRUE(works());
  EXPECT_FALSE(OrderWith(kOldKey).ok()) << "a member may no longer use the old key";
  EXPECT_TRUE(OrderWith(kNewKey).ok());
}

TEST_F(MemberConnectionTest, AConnectionOfARemovedKeyGetsNoAnswer) {
  Serve({kNewKey});
  ChannelPoolOptions options;
  options.member = MakeMember({kNewKey});
  ChannelPool pool(std::move(options));
  ASSERT_TRUE(pool.CallSync(kMembersOrder, Here(), MakeGet("r")).ok());
  own_->SetKeys({"proof-the next key of it"});
  const auto lost = pool.CallSync(kMembersOrder, Here(), MakeGet("r"));
  ASSERT_FALSE(lost.ok());
  EXPECT_TRUE(IsClass(lost.error(), kConnectionLost)) << lost.error().ToString();
  EXPECT_EQ(server_->stats().calls_received, 1u);
}

TEST_F(MemberConnectionTest, NoKeyMeansNobody) {
  Serve({});
  EXPECT_FALSE(OrderWith(kNewKey).ok());
  EXPECT_FALSE(OrderWith("").ok());
  Serve({""}, ProofPolicy::kAccept);
  RawClient client(server_->port());
  client.Send(ClientHello("rs", std::string(methods::kClientService), false, ""));
  client.Send(RequestFrame(1, "Order", MakeGet("r")));
  EXPECT_EQ(ParseAnswer(client.ReadFrame()).header.exception().exception_class_name(), exception::kAccessDenied);
}

TEST_F(MemberConnectionTest, ASilentClientIsClosed) {
  Serve({kNewKey}, ProofPolicy::kRequired, Millis(100));
  const std::string hello = MakeMember({kNewKey})->BeginClient({"127.0.0.1", server_->port()})->hello();
  RawClient silent(server_->port());
  silent.Send(MemberPreamble());
  RawClient half(server_->port());
  half.Send(MemberPreamble() + ClientUnit(hello));
  EXPECT_TRUE(silent.WaitClosed());
  EXPECT_TRUE(half.WaitClosed());
  EXPECT_EQ(server_->stats().bad_connections, 2u);
  EXPECT_TRUE(OrderWith(kNewKey).ok());
}

TEST_F(MemberConnectionTest, ALargeUnitIsRefusedByItsLength) {
  Serve({kNewKey});
  for (const std::uint32_t length :
       {static_cast<std::uint32_t>(kMostMemberUnit + 1), 1u << 20, 0x7fffffffu, 0xffffffffu}) {
    RawClient client(server_->port());
    std::string bytes = MemberPreamble();
    AppendBig32(length, bytes);
    client.Send(bytes);
    EXPECT_TRUE(client.WaitClosed()) << length;
  }
  EXPECT_TRUE(OrderWith(kNewKey).ok());
}

// Versions before 0.3 accepted a header of a megabyte.
TEST_F(MemberConnectionTest, ALargeConnectionHeaderIsRefusedByItsLength) {
  Serve({kNewKey});
  RawClient client(server_->port());
  std::string bytes = "HBas\0\x50"s;
  AppendBig32((64u << 10) + 1, bytes);
  client.Send(bytes);
  EXPECT_EQ(ParseAnswer(client.ReadFrame()).header.exception().exception_class_name(), exception::kFatalConnection);
  EXPECT_TRUE(client.WaitClosed());
}

// The proof of one connection, sent on another one.
TEST_F(MemberConnectionTest, ARecordedProofMakesNoMember) {
  Serve({kNewKey});
  auto proof = *MakeMember({kNewKey})->BeginClient({"127.0.0.1", server_->port()});
  const auto answer_of = [](RawClient& client) {
    const std::string status = client.ReadFrame();  // a status of 0 looks like an empty frame
    EXPECT_TRUE(status.empty());
    return client.ReadFrame();
  };
  RawClient first(server_->port());
  first.Send(MemberPreamble() + ClientUnit(proof.hello()));
  const auto mac = proof.OnAnswer(answer_of(first));
  ASSERT_TRUE(mac.ok()) << mac.error().ToString();
  RawClient second(server_->port());
  second.Send(MemberPreamble() + ClientUnit(proof.hello()));
  EXPECT_FALSE(answer_of(second).empty());
  second.Send(ClientUnit(*mac) + ConnectionHeaderUnit("rs", std::string(methods::kClientService), false) +
              RequestFrame(1, "Order", MakeGet("r")));
  EXPECT_TRUE(second.WaitClosed());
  EXPECT_EQ(server_->stats().calls_received, 0u);
  first.Send(ClientUnit(*mac) + ConnectionHeaderUnit("rs", std::string(methods::kClientService), false) +
             RequestFrame(1, "Order", MakeGet("r")));
  EXPECT_TRUE(answer_of(first).empty());
  EXPECT_FALSE(ParseAnswer(first.ReadFrame()).header.has_exception());
}

TEST_F(MemberConnectionTest, AChangedFileIsFollowedAndADamagedOneIsNot) {
  Serve({kNewKey});
  Mutex mutex;
  Result<std::vector<std::string>> file = std::vector<std::string>{kNewKey};
  const auto write = [&](Result<std::vector<std::string>> content) {
    const MutexLock lock(mutex);
    file = std::move(content);
  };
  MemberKeyFile follower(own_,
                         [&] {
                           const MutexLock lock(mutex);
                           return file;
                         },
                         {Millis(1), Millis(1), Millis(1)});
  const std::vector<std::string> both{kNewKey, kOldKey};
  write(both);
  EXPECT_TRUE(Eventually([&] { return own_->texts() == both; }));
  write(Error(Code::kCorruption, "not a key"));
  EXPECT_TRUE(OrderWith(kNewKey).ok());
  EXPECT_EQ(own_->texts(), both);
  write(std::vector<std::string>{kOldKey});
  EXPECT_TRUE(Eventually([&] { return own_->texts() == std::vector<std::string>{kOldKey}; }));
  EXPECT_FALSE(OrderWith(kNewKey).ok());
}

#if defined(RATCHET_MUTANTS)
TEST_F(MemberConnectionTest, ShowingTheKeyAnywayIsNoticed) {
  const ScopedMutant mutant("member.show_key_anyway");
  EXPECT_FALSE(TheKeyIsShownToOldServersAsThePolicySays());
}
#endif

}  // namespace
}  // namespace ratchet::rpc
