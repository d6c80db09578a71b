// Clients with tokens on real connections, S151 (a token is its user's only), and calls that members pass on, S150
// (only members act for others).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/identity/token_check.h"
#include "common/rights/rights_holder.h"
#include "common/rpc/acting_for.h"
#include "common/rpc/call_audit.h"
#include "common/rpc/digest_sasl.h"
#include "common/rpc/digests.h"
#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "common/rpc/member_proof.h"
#include "common/rpc/server_connection.h"
#include "tests/support/members.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;
using hbase::pb::GetResponse;
using identity::TokenFacts;

constexpr char kTokensClusterKey[] = "proof-the key of this cluster";
constexpr Method<hbase::pb::GetRequest, GetResponse> kMembersOrder{methods::kClientService, "Order", Effect::kChanges,
                                                                   rights::Need::Member()};

class Keys final : public rights::TokenKeySource {
 public:
  [[nodiscard]] std::shared_ptr<const rights::TokenKeys> token_keys() const override {
    const MutexLock lock(mutex_);
    return keys_;
  }
  [[nodiscard]] std::shared_ptr<const rights::RevokedTokens> revoked_tokens() const override {
    const MutexLock lock(mutex_);
    return revoked_;
  }
  void Revoke(rights::RevokedTokens revoked) {
    const MutexLock lock(mutex_);
    revoked_ = std::make_shared<const rights::RevokedTokens>(std::move(revoked));
  }
  void Set(rights::TokenKeys keys) {
    const MutexLock lock(mutex_);
    keys_ = std::make_shared<const rights::TokenKeys>(std::move(keys));
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const rights::TokenKeys> keys_ GUARDED_BY(mutex_);
  std::shared_ptr<const rights::RevokedTokens> revoked_ GUARDED_BY(mutex_) =
      std::make_shared<const rights::RevokedTokens>();
};

// Keeps the last refused login as "user/real user/claimed user/how".
class RefusalAudit final : public CallAudit {
 public:
  void Authenticated(const AuditedConnection& connection, std::string_view why_refused) override {
    const MutexLock lock(mutex_);
    if (why_refused.empty()) return;
    last_ = fmt::format("{}/{}/{}/{}", connection.user, connection.real_user, connection.claimed_user,
                        static_cast<int>(connection.authentication));
  }
  void Member(const AuditedConnection&, std::string_view, std::string_view) override {}
  bool Wants(const CallContext&, bool) const override { return false; }
  void Admit(const CallContext&, const Connection&, const google::protobuf::MessageLite&, Done done) override {
    done(Ok());
  }
  void Answered(const CallContext&, const Connection&, const google::protobuf::MessageLite&,
                const google::protobuf::MessageLite&) override {}
  void Denied(const CallContext&, const Connection&, std::string_view) override {}
  [[nodiscard]] std::string last() {
    const MutexLock lock(mutex_);
    return last_;
  }

 private:
  Mutex mutex_;
  std::string last_ GUARDED_BY(mutex_);
};

class TokenConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    keys_.Set({key_});
    Serve(keys_);
  }
  void Serve(const rights::TokenKeySource& keys) {
    ServerOptions options;
    options.tokens = std::make_shared<const identity::TokenCheck>(keys, clock_);
    options.member = own_ = MakeMember({kTokensClusterKey});
    options.audit = audit_;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    const auto answer = [](const CallContext& call, const hbase::pb::GetRequest&, std::string_view,
                           const Responder<GetResponse>& responder) {
      GetResponse response;
      auto& cell = *response.mutable_result()->add_cell();
      cell.set_row(fmt::format("{}/{}/{}/{}", call.user, static_cast<int>(call.authentication),
                               call.member ? "member" : "client", call.peer.substr(0, 3)));
      responder.Reply(response);
    };
    service->On(methods::kGet, answer);
    service->On(kMembersOrder, answer, {QueueClass::kTransition});
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
    NameMember(*own_, *server_);
  }

  struct Token {
    std::string identifier;
    std::string password;
  };
  [[nodiscard]] Token TokenOf(const std::string& user, std::int64_t lives_ms = 60'000) const {
    return TokenBy(key_, user, lives_ms);
  }
  [[nodiscard]] Token TokenBy(const rights::TokenKey& key, const std::string& user,
                              std::int64_t lives_ms = 60'000) const {
    const std::int64_t now = clock_.WallMillis();
    const std::string identifier = identity::EncodeTokenIdentifier({user, key.id, now, now + lives_ms, 1});
    return {identifier, identity::TokenPassword(key, identifier)};
  }
  // Begins an exchange. The server's nonce, or what it sends instead of a challenge.
  static std::string NonceFor(RawClient& client) {
    client.Send("HBas\0R"s + ClientUnit({}));
    const std::string challenge = client.ReadUnit();
    const auto directives = ReadDigestDirectives(challenge);
    return directives.ok() ? directives->at("nonce") : "no challenge: " + challenge;
  }
  static std::string ResponseOf(const DigestInput& input) {
    return fmt::format(R"(charset=utf-8,username="{}",realm="default",nonce="{}",nc=00000001,cnonce="{}",)"
                       R"(digest-uri="null/default",maxbuf=65536,response={},qop=auth)",
                       input.user, input.nonce, input.client_nonce, DigestValue(input, false));
  }
  // The exchange up to its end. Empty: accepted; otherwise the class of the refusal. `sent`: the client's response.
  static std::string LogIn(RawClient& client, const Token& token, std::string* sent = nullptr) {
    const std::string nonce = NonceFor(client);
    const std::string user = ToBase64(token.identifier);
    const std::string password = ToBase64(token.password);
    const DigestInput input{user, password, nonce, "Y25vbmNl"};
    const std::string response = ResponseOf(input);
    if (sent != nullptr) *sent = response;
    client.Send(ClientUnit(response));
    const std::string proof = client.ReadUnit();
    return proof == "rspauth=" + DigestValue(input, true) ? "" : proof;
  }
  // The facts of a call on the connection, or the text of its end.
  static std::string Call(RawClient& client, const std::string& method = "Get",
                          const std::optional<std::string>& acts_for = std::nullopt) {
    hbase::pb::RequestHeader header;
    header.set_call_id(1);
    header.set_method_name(method);
    header.set_request_param(true);
    if (acts_for.has_value()) {
      header.add_attribute()->set_name(std::string(kActsForAttribute));
      header.mutable_attribute(0)->set_value(*acts_for);
    }
    client.Send(EncodeRequest(header, MakeGet("r"), {}));
    return RowOfAnswer(client.ReadFrame());
  }
  // The connection header of a client with a token; `user`: claimed.
  static std::string Header(const std::string& user = {}) {
    hbase::pb::ConnectionHeader header;
    if (!user.empty()) header.mutable_user_info()->set_effective_user(user);
    header.set_service_name(std::string(methods::kClientService));
    return ClientUnit(header.SerializeAsString());
  }

  SystemClock clock_;
  rights::TokenKey key_{3, std::string(32, 'k'), clock_.WallMillis() - 1'000, clock_.WallMillis() + 1'000'000, true};
  Keys keys_;
  std::shared_ptr<MemberIdentity> own_;
  const std::shared_ptr<RefusalAudit> audit_ = std::make_shared<RefusalAudit>();
  std::unique_ptr<RpcServer> server_;
};

TEST_F(TokenConnectionTest, TheUserIsTheTokens) {
  RawClient client(server_->port());
  EXPECT_EQ(LogIn(client, TokenOf("etl")), "");
  client.Send(Header());
  EXPECT_EQ(Call(client), "etl/3/client/127");
  EXPECT_EQ(Call(client), "etl/3/client/127");
}

TEST_F(TokenConnectionTest, WrongTokensAreRefusedWithTheReason) {
  const auto refusal = [this](const Token& token) {
    RawClient client(server_->port());
    const std::string why = LogIn(client, token);
    EXPECT_TRUE(client.WaitClosed());
    return why;
  };
  Token other = TokenOf("etl");
  other.password = TokenOf("root").password;
  EXPECT_THAT(refusal(other), testing::HasSubstr("another password"));
  EXPECT_THAT(refusal(TokenOf("etl", -31'000)), testing::HasSubstr("InvalidToken"));
  EXPECT_THAT(refusal({"nonsense", "password"}), testing::HasSubstr("InvalidToken"));
  const Token token = TokenOf("etl");
  keys_.Set({});
  EXPECT_THAT(refusal(token), testing::HasSubstr("InvalidToken"));
}

// Clusters number their keys alike.
TEST_F(TokenConnectionTest, ATokenOfAnotherClusterIsRefused) {
  rights::TokenKey others = key_;
  others.secret = std::string(32, 'o');
  const Token token = TokenBy(others, "etl");
  RawClient client(server_->port());
  EXPECT_THAT(LogIn(client, token), testing::HasSubstr("another password"));
  EXPECT_TRUE(client.WaitClosed());
  keys_.Set({others});
  RawClient there(server_->port());
  EXPECT_EQ(LogIn(there, token), "");
}

TEST_F(TokenConnectionTest, ARecordedResponseOpensNoOtherConnection) {
  std::string recorded;
  RawClient first(server_->port());
  ASSERT_EQ(LogIn(first, TokenOf("etl"), &recorded), "");
  std::set<std::string> nonces;
  constexpr std::size_t kConnections = 16;
  for (std::size_t i = 0; i < kConnections; ++i) {
    RawClient again(server_->port());
    nonces.insert(NonceFor(again));
    again.Send(ClientUnit(recorded) + Header());
    EXPECT_THAT(again.ReadUnit(), testing::HasSubstr("answers another challenge"));
    EXPECT_TRUE(again.WaitClosed());
  }
  EXPECT_EQ(nonces.size(), kConnections) << "a nonce was used twice";
  EXPECT_THAT(nonces, testing::Each(testing::SizeIs(32))) << "24 random bytes in Base64";
}

// The bytes of another user's login, whose connection continues; also with the own nonce, and with the own name.
TEST_F(TokenConnectionTest, AResponseOfAnotherUserIsRefused) {
  std::string recorded;
  RawClient first(server_->port());
  ASSERT_EQ(LogIn(first, TokenOf("root"), &recorded), "");
  const auto fields = ReadDigestDirectives(recorded);
  ASSERT_TRUE(fields.ok());
  const auto refusal = [&](bool own_nonce, bool own_name) {
    RawClient client(server_->port());
    const std::string nonce = NonceFor(client);
    std::string response = recorded;
    const auto put = [&](const std::string& name, const std::string& value) {
      response.replace(response.find(fields->at(name)), fields->at(name).size(), value);
    };
    if (own_nonce) put("nonce", nonce);
    if (own_name) put("username", ToBase64(TokenOf("etl").identifier));
    client.Send(ClientUnit(response) + Header());
    std::string why = client.ReadUnit();
    EXPECT_TRUE(client.WaitClosed());
    return why;
  };
  EXPECT_THAT(refusal(false, false), testing::HasSubstr("answers another challenge"));
  EXPECT_THAT(refusal(false, true), testing::HasSubstr("answers another challenge"));
  EXPECT_THAT(refusal(true, false), testing::HasSubstr("another password"));
  EXPECT_THAT(refusal(true, true), testing::HasSubstr("another password"));
  first.Send(Header());
  EXPECT_EQ(Call(first), "root/3/client/127");
}

// A standby that has become active, and a region server that has started, have the keys from their first image.
TEST_F(TokenConnectionTest, AServerTakesTokensAsSoonAsItHasTheKeys) {
  rights::RightsHolder holder;
  Serve(holder);
  std::uint64_t number = 0;
  const auto take = [&](rights::TokenKeys keys) {
    return holder.Take(std::make_shared<const rights::RightsImage>(rights::ImageNumber{1, ++number},
                                                                   std::vector<rights::RightsEntry>(),
                                                                   std::vector<rights::Scope>(), std::move(keys)));
  };
  const auto log_in = [&](RawClient& client) { return LogIn(client, TokenOf("etl")); };
  RawClient before(server_->port());
  EXPECT_THAT(log_in(before), testing::HasSubstr("InvalidToken"));
  ASSERT_TRUE(take({}));
  RawClient without(server_->port());
  EXPECT_THAT(log_in(without), testing::HasSubstr("InvalidToken"));
  ASSERT_TRUE(take({key_}));
  RawClient client(server_->port());
  EXPECT_EQ(log_in(client), "");
  client.Send(Header());
  EXPECT_EQ(Call(client), "etl/3/client/127");
  // New keys sign from now on; the old one holds until it is withdrawn.
  rights::TokenKeys keys{key_};
  for (std::uint32_t id = key_.id + 1; id <= key_.id + 3; ++id) {
    keys.push_back({id, std::string(32, static_cast<char>('k' + id)), key_.made_ms, key_.expires_ms, true});
    ASSERT_TRUE(take(keys));
    EXPECT_EQ(Call(client), "etl/3/client/127") << id;
    RawClient other(server_->port());
    EXPECT_EQ(LogIn(other, TokenBy(keys.back(), "etl")), "") << id;
  }
  keys.erase(keys.begin());
  ASSERT_TRUE(take(keys));
  EXPECT_EQ(Call(client), "closed");
}

TEST_F(TokenConnectionTest, ATokenActsForNoOtherUser) {
  RawClient client(server_->port());
  EXPECT_EQ(LogIn(client, TokenOf("etl")), "");
  client.Send(Header("root"));
  EXPECT_THAT(Call(client), testing::HasSubstr("acts for no other user"));
  EXPECT_EQ(audit_->last(), "/etl/root/3") << "both names are in the record";
  RawClient same(server_->port());
  EXPECT_EQ(LogIn(same, TokenOf("etl")), "");
  same.Send(Header("etl"));
  EXPECT_EQ(Call(same), "etl/3/client/127");
  const ScopedMutant mutant("rpc.token_of_another_user");
  RawClient again(server_->port());
  EXPECT_EQ(LogIn(again, TokenOf("etl")), "");
  again.Send(Header("root"));
  EXPECT_EQ(Call(again), "root/3/client/127");
}

TEST_F(TokenConnectionTest, AWithdrawnKeyEndsOpenConnections) {
  RawClient client(server_->port());
  EXPECT_EQ(LogIn(client, TokenOf("etl")), "");
  client.Send(Header());
  EXPECT_EQ(Call(client), "etl/3/client/127");
  keys_.Set({});
  EXPECT_EQ(Call(client), "closed");
}

TEST_F(TokenConnectionTest, AConnectionEndsWhenItsTokenIsRevoked) {
  RawClient client(server_->port());
  EXPECT_EQ(LogIn(client, TokenOf("etl")), "");
  client.Send(Header());
  EXPECT_EQ(Call(client), "etl/3/client/127");
  keys_.Revoke({{1, "etl"}});
  EXPECT_EQ(Call(client), "closed");
  RawClient again(server_->port());
  EXPECT_THAT(LogIn(again, TokenOf("etl")), testing::HasSubstr("was revoked"));
}

TEST_F(TokenConnectionTest, LongAndUnfinishedMessagesEndTheConnection) {
  RawClient client(server_->port());
  static_assert(kMostDigestResponse == 4096);
  ExpectTooLong(client, "HBas\0R"s, kMostDigestResponse + 1);
  RawClient first(server_->port());
  first.Send("HBas\0R"s + ClientUnit("not empty"));
  EXPECT_THAT(first.ReadUnit(), testing::HasSubstr("is not empty"));
}

// Test 32 of identity.
TEST_F(TokenConnectionTest, AHugeLengthEndsItsOwnConnectionOnly) {
  RawClient other(server_->port());
  ASSERT_EQ(LogIn(other, TokenOf("etl")), "");
  other.Send(Header());
  for (const std::uint32_t length : kHugeLengths) {
    RawClient first(server_->port());
    ExpectTooLong(first, "HBas\0R"s, length);
    RawClient second(server_->port());
    EXPECT_THAT(NonceFor(second), testing::SizeIs(32));
    ExpectTooLong(second, "", length, "x");
    EXPECT_EQ(Call(other), "etl/3/client/127") << length;
  }
}

// The identity of a connection is that of its first header.
TEST_F(TokenConnectionTest, ASecondIntroductionEndsTheConnection) {
  RawClient other(server_->port());
  ASSERT_EQ(LogIn(other, TokenOf("etl")), "");
  other.Send(Header());
  EXPECT_EQ(Call(other), "etl/3/client/127");
  for (const std::string& again :
       {Header("root"), Header(), "HBas\0R"s + ClientUnit({}), "HBas\0P"s + Header("root")}) {
    RawClient client(server_->port());
    ASSERT_EQ(LogIn(client, TokenOf("etl")), "");
    client.Send(Header() + again);
    EXPECT_FALSE(ParseAnswer(client.ReadFrame()).header.exception().exception_class_name().empty());
    EXPECT_TRUE(client.WaitClosed());
  }
  EXPECT_EQ(server_->stats().calls_received, 1U);
  EXPECT_EQ(Call(other), "etl/3/client/127");
}

class ActingForTest : public TokenConnectionTest {
 protected:
  // Returns the facts that the server has of a call that is passed on for this client.
  [[nodiscard]] std::string PassOn(const std::shared_ptr<const MemberIdentity>& member, const CallContext& client,
                                   bool members_order = false) const {
    ChannelPoolOptions options;
    options.member = member;
    options.user = "server";
    ChannelPool pool(std::move(options));
    CallOptions call;
    call.acts_for = EncodeActingFor(client);
    const Endpoint here{"127.0.0.1", server_->port()};
    const auto reply = members_order ? pool.CallSync(kMembersOrder, here, MakeGet("r"), call)
                                     : pool.CallSync(methods::kGet, here, MakeGet("r"), call);
    if (!reply.ok()) return reply.error().remote_class() + ": " + reply.error().message();
    return reply->message.result().cell(0).row();
  }
  static CallContext ClientOf(const std::string& user, Authentication authentication) {
    CallContext client;
    client.user = user;
    client.authentication = authentication;
    client.peer = "10.1.2.3:4";
    return client;
  }
};

TEST_F(ActingForTest, AMembersCallIsThatOfTheClient) {
  const auto member = MakeMember({kTokensClusterKey});
  EXPECT_EQ(PassOn(member, ClientOf("alice", Authentication::kCertificate)), "alice/1/client/10.");
  EXPECT_EQ(PassOn(member, ClientOf("etl", Authentication::kToken)), "etl/3/client/10.");
}

TEST_F(ActingForTest, APassedOnCallIsNotAMembers) {
  EXPECT_THAT(PassOn(MakeMember({kTokensClusterKey}), ClientOf("alice", Authentication::kSimple), true),
              testing::HasSubstr("AccessDenied"));
  EXPECT_THAT(PassOn(MakeMember({kTokensClusterKey}), ClientOf("alice", Authentication::kMember)),
              testing::HasSubstr("cannot be read"));
}

TEST_F(ActingForTest, OfOtherClientsTheAttributeHasNoEffect) {
  EXPECT_EQ(PassOn(nullptr, ClientOf("root", Authentication::kCertificate)), "server/0/client/127");
  const ScopedMutant mutant("rpc.any_client_acts_for_others");
  EXPECT_EQ(PassOn(nullptr, ClientOf("root", Authentication::kCertificate)), "root/1/client/10.");
}

}  // namespace
}  // namespace ratchet::rpc
