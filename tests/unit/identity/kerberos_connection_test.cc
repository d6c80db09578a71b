// Clients with Kerberos on real connections, with a login that needs no KDC: S156 (the protection is one that both
// want), S158 (a connection ends with its ticket), test 18 of identity. tests/kerberos has the same with MIT's library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <fmt/format.h>

#include "common/audit/audit_log.h"
#include "common/base/mutant.h"
#include "common/identity/certificate_callers.h"
#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "common/rpc/member_proof.h"
#include "common/rpc/protected_stream.h"
#include "common/rpc/tls_handshakes.h"
#include "tests/support/fake_security.h"
#include "tests/support/sim_disk.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;
using hbase::pb::GetResponse;
using ::testing::HasSubstr;

constexpr std::uint8_t kAllProtections = 7;
constexpr std::size_t kMostUnitOfClient = 2'048;

class KerberosConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override { Restart(std::make_shared<FakeAcceptor>(kAllProtections)); }
  void Restart(std::shared_ptr<const KerberosAcceptor> acceptor) {
    ServerOptions options;
    options.kerberos = std::move(acceptor);
    options.audit = audit_;
    auto callers = identity::CertificateCallers::Open({});
    ASSERT_TRUE(callers.ok());
    options.callers = *callers;
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    service->On(methods::kGet, [](const CallContext& call, const hbase::pb::GetRequest& request, std::string_view,
                                  const Responder<GetResponse>& responder) {
      GetResponse response;
      auto& cell = *response.mutable_result()->add_cell();
      cell.set_row(fmt::format("{}/{}/{}", call.user, static_cast<int>(call.authentication), call.real_user));
      cell.set_value(request.get().row());
      responder.Reply(response);
    });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
  }

  static std::string Choice(Protection protection, std::size_t most = kMostUnitOfClient) {
    std::string plain(1, static_cast<char>(protection));
    for (const int shift : {16, 8, 0}) plain += static_cast<char>((most >> shift) & 0xFF);
    return ClientUnit(FakeSecurity::WrapAs(plain, false, 0));
  }
  // Up to the choice; empty, or the refusal.
  static std::string Begin(RawClient& client, const std::string& token = "AP-REQ") {
    client.Send("HBas\0Q"s + ClientUnit(token));
    if (const std::string answer = client.ReadUnit(); answer != "AP-REP") return answer;
    client.Send(ClientUnit({}));
    const std::string offer = client.ReadUnit();
    return offer.starts_with("w0:") ? "" : offer;
  }
  static std::string Header(const std::string& user = {}, const std::string& real_user = {}) {
    hbase::pb::ConnectionHeader header;
    if (!user.empty()) header.mutable_user_info()->set_effective_user(user);
    if (!real_user.empty()) header.mutable_user_info()->set_real_user(real_user);
    header.set_service_name(std::string(methods::kClientService));
    return ClientUnit(header.SerializeAsString());
  }
  static std::string Request(const std::string& row = "r") {
    hbase::pb::RequestHeader header;
    header.set_call_id(1);
    header.set_method_name("Get");
    header.set_request_param(true);
    return EncodeRequest(header, MakeGet(row), {});
  }
  static std::string Call(RawClient& client, const std::string& row = "r") {
    client.Send(Request(row));
    return RowOfAnswer(client.ReadFrame());
  }

  std::shared_ptr<CallAudit> audit_;  // set it before Restart
  std::unique_ptr<RpcServer> server_;
};

// The client's end of a protected connection.
class ProtectedClient {
 public:
  ProtectedClient(RawClient& client, Protection protection) : client_(client), protection_(protection) {}
  void Send(std::string_view plain) {
    client_.Send(ClientUnit(FakeSecurity::WrapAs(plain, protection_ == Protection::kPrivacy, next_++)));
  }
  // The next frame without its length; empty at the end.
  std::string ReadFrame() {
    while (plain_.size() < 4 || plain_.size() < 4 + std::size_t{ReadBig32(plain_)}) {
      const std::string unit = client_.ReadFrame();
      if (unit.empty()) return {};
      EXPECT_LE(unit.size(), kMostUnitOfClient);
      EXPECT_EQ(unit.front(), protection_ == Protection::kPrivacy ? 'e' : 'w');
      const auto plain = theirs_.Unwrap(unit);
      EXPECT_TRUE(plain.ok());
      if (!plain.ok()) return {};
      plain_ += plain->bytes;
    }
    std::string frame = plain_.substr(4, ReadBig32(plain_));
    plain_.erase(0, 4 + frame.size());
    return frame;
  }
  // The server's offer was its first unit.
  void SkipOffer() { static_cast<void>(theirs_.Unwrap(FakeSecurity::WrapAs("\x07\xFF\xFF\xFF", false, 0))); }

 private:
  RawClient& client_;
  const Protection protection_;
  FakeSecurity theirs_;
  int next_ = 1;  // after the choice
  std::string plain_;
};

TEST_F(KerberosConnectionTest, TheUserIsThePrincipals) {
  for (const char* claimed : {"", "alice", "alice@TEST"}) {
    RawClient client(server_->port());
    ASSERT_EQ(Begin(client), "");
    client.Send(Choice(Protection::kAuth) + Header(claimed));
    EXPECT_EQ(Call(client), "alice/4/");
    EXPECT_EQ(Call(client), "alice/4/");
  }
}

TEST_F(KerberosConnectionTest, AProtectedConnectionCarriesFramesInUnits) {
  for (const Protection protection : {Protection::kIntegrity, Protection::kPrivacy}) {
    RawClient raw(server_->port());
    ASSERT_EQ(Begin(raw), "");
    raw.Send(Choice(protection));
    ProtectedClient client(raw, protection);
    client.SkipOffer();
    const std::string row(30'000, 'x');
    const std::string all = Header() + Request(row);
    for (std::size_t at = 0; at < all.size(); at += 1'000) client.Send(std::string_view(all).substr(at, 1'000));
    std::string value;
    EXPECT_EQ(RowOfAnswer(client.ReadFrame(), &value), "alice/4/");
    EXPECT_EQ(value, row);
    client.Send(Request("a") + Request("b"));
    EXPECT_EQ(RowOfAnswer(client.ReadFrame(), &value), "alice/4/");
    EXPECT_EQ(RowOfAnswer(client.ReadFrame(), &value), "alice/4/");
  }
}

TEST_F(KerberosConnectionTest, UnitsRightAfterTheChoiceAreOpened) {
  RawClient raw(server_->port());
  ASSERT_EQ(Begin(raw), "");
  raw.Send(Choice(Protection::kPrivacy) + ClientUnit(FakeSecurity::WrapAs(Header() + Request(), true, 1)));
  ProtectedClient client(raw, Protection::kPrivacy);
  client.SkipOffer();
  EXPECT_EQ(RowOfAnswer(client.ReadFrame()), "alice/4/");
}

TEST_F(KerberosConnectionTest, AChangedUnitEndsTheConnection) {
  RawClient raw(server_->port());
  ASSERT_EQ(Begin(raw), "");
  std::string unit = ClientUnit(FakeSecurity::WrapAs(Header() + Request(), true, 1));
  unit[20] ^= 1;
  raw.Send(Choice(Protection::kPrivacy) + unit);
  ProtectedClient client(raw, Protection::kPrivacy);
  client.SkipOffer();
  EXPECT_THAT(RowOfAnswer(client.ReadFrame()), HasSubstr("a changed unit"));
  EXPECT_TRUE(raw.WaitClosed());
}

TEST_F(KerberosConnectionTest, AProtectionThatTheServerDoesNotWantIsRefused) {
  Restart(std::make_shared<FakeAcceptor>(static_cast<std::uint8_t>(Protection::kPrivacy)));
  for (const Protection chosen : {Protection::kAuth, Protection::kIntegrity}) {
    RawClient client(server_->port());
    ASSERT_EQ(Begin(client), "");
    client.Send(Choice(chosen) + Header());
    EXPECT_THAT(client.ReadUnit(), HasSubstr("this process wants auth-conf"));
    EXPECT_TRUE(client.WaitClosed());
  }
}

TEST_F(KerberosConnectionTest, ARefusedLoginHasItsReason) {
  RawClient wrong(server_->port());
  EXPECT_THAT(Begin(wrong, "nonsense"), HasSubstr("Kerberos login refused: no ticket"));
  EXPECT_TRUE(wrong.WaitClosed());
  RawClient large(server_->port());
  static_assert(kMostGssapiMessage == 65536);
  ExpectTooLong(large, "HBas\0Q"s, kMostGssapiMessage + 1);
}

// Test 32 of identity, as TokenConnectionTest has it for tokens.
TEST_F(KerberosConnectionTest, AHugeLengthEndsItsOwnConnectionOnly) {
  RawClient other(server_->port());
  ASSERT_EQ(Begin(other), "");
  other.Send(Choice(Protection::kAuth) + Header());
  for (const std::uint32_t length : kHugeLengths) {
    RawClient first(server_->port());
    ExpectTooLong(first, "HBas\0Q"s, length);
    RawClient last(server_->port());
    ASSERT_EQ(Begin(last), "");
    ExpectTooLong(last, "", length, "x");
    EXPECT_EQ(Call(other), "alice/4/") << length;
  }
}

// The length of a protected unit comes after the login.
TEST_F(KerberosConnectionTest, AHugeProtectedUnitEndsItsOwnConnectionOnly) {
  RawClient other(server_->port());
  ASSERT_EQ(Begin(other), "");
  other.Send(Choice(Protection::kAuth) + Header());
  for (const std::uint32_t length : {1U << 31U, 0xffffffffU}) {
    std::string bytes;
    AppendBig32(length, bytes);
    RawClient raw(server_->port());
    ASSERT_EQ(Begin(raw), "");
    raw.Send(Choice(Protection::kPrivacy) + bytes + "x");
    ProtectedClient client(raw, Protection::kPrivacy);
    client.SkipOffer();
    EXPECT_THAT(RowOfAnswer(client.ReadFrame()), HasSubstr(fmt::format("a protected unit of {} bytes", length)));
    EXPECT_TRUE(raw.WaitClosed()) << length;
    EXPECT_EQ(Call(other), "alice/4/") << length;
  }
}

TEST_F(KerberosConnectionTest, ASecondIntroductionEndsTheConnection) {
  for (const std::string& again : {Header(), Header("root"), "HBas\0Q"s + ClientUnit("AP-REQ bob@TEST")}) {
    RawClient client(server_->port());
    ASSERT_EQ(Begin(client), "");
    client.Send(Choice(Protection::kAuth) + Header() + again);
    EXPECT_THAT(RowOfAnswer(client.ReadFrame()),
                ::testing::AnyOf(HasSubstr("cannot parse a request header"), HasSubstr("request of")));
    EXPECT_TRUE(client.WaitClosed());
  }
  EXPECT_EQ(server_->stats().calls_received, 0U);
}

TEST_F(KerberosConnectionTest, APrincipalWithoutAUserIsRefused) {
  const auto refusal = [this](const std::string& principal, const std::string& claimed) {
    RawClient client(server_->port());
    EXPECT_EQ(Begin(client, "AP-REQ " + principal), "");
    client.Send(Choice(Protection::kAuth) + Header(claimed));
    const std::string answer = RowOfAnswer(client.ReadFrame());
    EXPECT_TRUE(client.WaitClosed());
    return answer;
  };
  EXPECT_THAT(refusal("carol@OTHER", ""), HasSubstr("is of another realm"));
  EXPECT_THAT(refusal("alice@TEST", "root"), HasSubstr("user alice may not act for user root"));
}

class KerberosAuditTest : public KerberosConnectionTest {
 protected:
  void SetUp() override {
    auto opened = audit::AuditLog::Open(*process_, "/audit", {64U << 20, 16, 16'384}, "host", "rs");
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    log_ = *opened;
    audit_ = log_;
    KerberosConnectionTest::SetUp();
  }
  void TearDown() override {
    server_.reset();
    audit_.reset();
    log_.reset();
  }
  std::vector<std::string> LoginLines() {
    const auto reader = disk_.NewProcess("reader");
    const auto directory = *reader->OpenOrMake("/audit");
    const auto names = directory->List();
    std::vector<std::string> lines;
    for (const std::string& name : *names) {
      if (!audit::IsAuditFileName(name)) continue;
      std::istringstream text(*directory->ReadAll(name));
      for (std::string line; std::getline(text, line);)
        if (line.find(R"("event":"auth")") != std::string::npos) lines.push_back(line);
    }
    return lines;
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_ = disk_.NewProcess();
  std::shared_ptr<audit::AuditLog> log_;
};

// Test 17 of identity.
TEST_F(KerberosAuditTest, AClaimToActForAnotherIsRefusedAndAuditedWithBothNames) {
  struct Claim {
    const char* effective;
    const char* real;
    const char* why;
  };
  std::size_t refused = 0;
  for (const Claim& claim : {Claim{"root", "", "user alice may not act for user root"},
                             Claim{"root", "alice", "user alice may not act for user root"},
                             Claim{"root", "alice@TEST", "user alice may not act for user root"},
                             Claim{"root", "root", "its principal is that of alice"}}) {
    SCOPED_TRACE(fmt::format("{} by {}", claim.effective, claim.real));
    RawClient client(server_->port());
    ASSERT_EQ(Begin(client), "");
    client.Send(Choice(Protection::kAuth) + Header(claim.effective, claim.real) + Request());
    EXPECT_THAT(RowOfAnswer(client.ReadFrame()), HasSubstr(claim.why));
    EXPECT_TRUE(client.WaitClosed());
    ++refused;
    ASSERT_TRUE(Eventually([&] { return LoginLines().size() >= refused; }));
    const std::vector<std::string> lines = LoginLines();
    ASSERT_EQ(lines.size(), refused);
    const std::string& line = lines.back();
    EXPECT_THAT(line, HasSubstr(R"("event":"auth","user":"alice@TEST","real_user":"alice","claimed":"root",)"
                                R"("by":"kerberos")"));
    EXPECT_THAT(line, HasSubstr(R"("outcome":"denied","why":")"));
    EXPECT_THAT(line, HasSubstr(claim.why));
  }
}

TEST_F(KerberosConnectionTest, AClientWithoutALoginIsRefused) {
  RawClient client(server_->port());
  client.Send("HBas\0P"s + Header("root"));
  EXPECT_THAT(RowOfAnswer(client.ReadFrame()), HasSubstr("users log in with Kerberos here"));
  EXPECT_TRUE(client.WaitClosed());
}

TEST_F(KerberosConnectionTest, AConnectionEndsWithItsTicket) {
  LoginFacts facts = FakeSecurity::GoodFacts();
  facts.lives_ms = -301'000;  // more than clocks may differ
  Restart(std::make_shared<FakeAcceptor>(kAllProtections, facts));
  const auto call = [this] {
    RawClient client(server_->port());
    EXPECT_EQ(Begin(client), "");
    client.Send(Choice(Protection::kAuth) + Header());
    return Call(client);
  };
  EXPECT_EQ(call(), "closed");
  const ScopedMutant mutant("rpc.tickets_do_not_end");
  EXPECT_EQ(call(), "alice/4/");
}

TEST_F(KerberosConnectionTest, TheClientLearnsThePrincipalBeforeItLogsIn) {
  RawClient client(server_->port());
  client.Send("Securi"s);
  const ParsedAnswer answer = ParseAnswer(client.ReadFrame());
  EXPECT_EQ(answer.header.call_id(), kConnectionCallId);
  std::string_view body = answer.body;
  std::string_view message;
  hbase::pb::SecurityPreamableResponse response;
  ASSERT_TRUE(CutDelimited(body, message));
  ASSERT_TRUE(response.ParseFromArray(message.data(), static_cast<int>(message.size())));
  EXPECT_EQ(response.server_principal(), "hbase/localhost@TEST");
  ASSERT_EQ(Begin(client), "");
  client.Send(Choice(Protection::kAuth) + Header());
  EXPECT_EQ(Call(client), "alice/4/");
}

TEST_F(KerberosConnectionTest, AProcessWithoutAKeytabRefuses) {
  Restart(nullptr);
  RawClient client(server_->port());
  client.Send("HBas\0Q"s + ClientUnit("AP-REQ"));
  EXPECT_THAT(client.ReadUnit(), HasSubstr("this process accepts no Kerberos"));
  EXPECT_TRUE(client.WaitClosed());
}

// Each piece of the exchange may come alone, and a client may leave at each moment.
TEST_F(KerberosConnectionTest, ClientsThatLeaveInTheMiddleHoldNoPlace) {
  const std::string all = "HBas\0Q"s + ClientUnit("AP-REQ") + ClientUnit({}) + Choice(Protection::kAuth) + Header();
  for (std::size_t size = 0; size < 2 * all.size(); ++size) {
    RawClient client(server_->port());
    client.Send(std::string_view(all).substr(0, size % all.size()));
  }
  // More clients have left than may be in a login from one address; the server notices each end a little later.
  const SystemClock clock;
  const TimePoint deadline = clock.Now() + Millis(10'000);
  std::string answer;
  while (answer != "alice/4/" && clock.Now() < deadline) {
    RawClient client(server_->port());
    if (!Begin(client).empty()) continue;
    client.Send(Choice(Protection::kAuth) + Header());
    answer = Call(client);
  }
  EXPECT_EQ(answer, "alice/4/");
  EXPECT_GT(2 * all.size(), TlsHandshakes::kMostOfAddress + 2 * kPreambleBytes);
}

}  // namespace
}  // namespace ratchet::rpc
