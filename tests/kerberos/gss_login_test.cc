// Logins by MIT's library at both ends, with a KDC of this machine: S157 (a recorded login is worthless), and what the
// library says about keys, realms and protections.
#include <gmock/gmock.h>
#include <gssapi/gssapi_krb5.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "common/identity/certificate_callers.h"
#include "common/kerberos/gss_acceptor.h"
#include "common/rpc/frame.h"
#include "common/rpc/gssapi_sasl.h"
#include "common/rpc/member_proof.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::kerberos {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using rpc::ClientUnit;
using rpc::Protection;
using rpc::RawClient;
using ::testing::HasSubstr;

constexpr char kService[] = "hbase/localhost@TEST";
constexpr std::uint8_t kAllProtections = 7;
constexpr int kSkipped = 77;

std::string Taken(gss_buffer_desc& buffer) {
  std::string text(static_cast<const char*>(buffer.value), buffer.length);
  OM_uint32 minor = 0;
  gss_release_buffer(&minor, &buffer);
  return text;
}

gss_buffer_desc BufferOf(std::string& bytes) { return {bytes.size(), bytes.data()}; }

// The client's side of a login, with the tickets of KRB5CCNAME.
class GssClient {
 public:
  explicit GssClient(OM_uint32 flags = GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG | GSS_C_SEQUENCE_FLAG |
                                       GSS_C_REPLAY_FLAG)
      : flags_(flags) {
    std::string text = kService;
    gss_buffer_desc buffer = BufferOf(text);
    OM_uint32 minor = 0;
    EXPECT_EQ(gss_import_name(&minor, &buffer, GSS_KRB5_NT_PRINCIPAL_NAME, &service_), GSS_S_COMPLETE);
  }
  ~GssClient() {
    OM_uint32 minor = 0;
    gss_release_name(&minor, &service_);
    gss_delete_sec_context(&minor, &context_, GSS_C_NO_BUFFER);
  }
  GssClient(const GssClient&) = delete;
  GssClient& operator=(const GssClient&) = delete;

  std::string Step(std::string token) {
    gss_buffer_desc input = BufferOf(token);
    gss_buffer_desc output = GSS_C_EMPTY_BUFFER;
    OM_uint32 minor = 0;
    const OM_uint32 major =
        gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &context_, service_, gss_mech_krb5, flags_, 0,
                             GSS_C_NO_CHANNEL_BINDINGS, &input, nullptr, &output, nullptr, nullptr);
    EXPECT_FALSE(GSS_ERROR(major)) << major << " " << minor;
    return Taken(output);
  }
  std::string Wrap(std::string plain, bool encrypt = false) {
    gss_buffer_desc input = BufferOf(plain);
    gss_buffer_desc output = GSS_C_EMPTY_BUFFER;
    OM_uint32 minor = 0;
    EXPECT_EQ(gss_wrap(&minor, context_, encrypt ? 1 : 0, GSS_C_QOP_DEFAULT, &input, nullptr, &output), GSS_S_COMPLETE);
    return Taken(output);
  }
  // Empty: not what the server has wrapped.
  std::string Unwrap(std::string wrapped, bool* encrypted = nullptr) {
    gss_buffer_desc input = BufferOf(wrapped);
    gss_buffer_desc output = GSS_C_EMPTY_BUFFER;
    OM_uint32 minor = 0;
    int state = 0;
    if (gss_unwrap(&minor, context_, &input, &output, &state, nullptr) != GSS_S_COMPLETE) return {};
    if (encrypted != nullptr) *encrypted = state != 0;
    return Taken(output);
  }

 private:
  const OM_uint32 flags_;
  gss_name_t service_ = GSS_C_NO_NAME;
  gss_ctx_id_t context_ = GSS_C_NO_CONTEXT;
};

class KerberosTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = fs::path(::testing::TempDir()) / fmt::format("ratchet_kdc_{}", ::getpid());
    made_ = WEXITSTATUS(Run(fmt::format("tests/kerberos/kdc up {}", directory_.string())));
    ::setenv("KRB5_CONFIG", (directory_ / "krb5.conf").c_str(), 1);
    ::setenv("KRB5CCNAME", (directory_ / "cache").c_str(), 1);
  }
  static void TearDownTestSuite() { Run(fmt::format("tests/kerberos/kdc down {}", directory_.string())); }
  void SetUp() override {
    if (made_ == kSkipped) GTEST_SKIP() << "krb5-kdc is not installed (scripts/install-deps --with-kerberos)";
    ASSERT_EQ(made_, 0);
    LogInAs("alice", "TEST");
    Serve(Keytab("service"));
  }

  static int Run(const std::string& command) {
    return std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): no other thread runs a command
  }
  static std::string Keytab(const std::string& name) { return directory_ / (name + ".keytab"); }
  // Fetches the tickets, also the one of the service.
  static void LogInAs(const std::string& user, const std::string& realm) {
    ASSERT_EQ(Run(fmt::format("export KRB5_CONFIG={0}/krb5.conf; rm -f {0}/cache; kinit -kt {0}/{1}.keytab {1}@{2} && "
                              "kvno -q {3}",
                              directory_.string(), user, realm, kService)),
              0);
  }
  void Serve(const std::string& keytab, std::uint8_t protections = kAllProtections) {
    auto acceptor = GssAcceptor::Open(keytab, kService, protections);
    ASSERT_TRUE(acceptor.ok()) << acceptor.error().ToString();
    rpc::ServerOptions options;
    options.kerberos = *acceptor;
    auto callers = identity::CertificateCallers::Open({});
    ASSERT_TRUE(callers.ok());
    options.callers = *callers;
    server_ = std::make_unique<rpc::RpcServer>(std::move(options));
    auto service = std::make_shared<rpc::Service>(methods::kClientService);
    service->On(methods::kGet, [](const rpc::CallContext& call, const hbase::pb::GetRequest& request, std::string_view,
                                  const rpc::Responder<hbase::pb::GetResponse>& responder) {
      hbase::pb::GetResponse response;
      response.mutable_result()->add_cell()->set_row(call.user);
      response.mutable_result()->mutable_cell(0)->set_value(request.get().row());
      responder.Reply(response);
    });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
  }

  static std::string Choice(Protection protection) { return static_cast<char>(protection) + "\x01\x00\x00"s; }
  // The whole exchange. Returns the refusal, or empty. `sent`: the client's bytes.
  static std::string Begin(RawClient& raw, GssClient& client, Protection protection, std::string* sent = nullptr) {
    std::string all;
    const auto send = [&](const std::string& bytes) {
      raw.Send(bytes);
      all += bytes;
    };
    send("HBas\0Q"s + ClientUnit(client.Step({})));
    const std::string answer = raw.ReadUnit();
    if (!answer.starts_with('`')) return answer;  // a token of GSSAPI begins with 0x60
    client.Step(answer);
    send(ClientUnit({}));
    const std::string offer = client.Unwrap(raw.ReadUnit());
    if (offer.size() != 4) return "no offer";
    send(ClientUnit(client.Wrap(Choice(protection))));
    if (sent != nullptr) *sent = all;
    return {};
  }
  static std::string Header() {
    hbase::pb::ConnectionHeader header;
    header.set_service_name(std::string(methods::kClientService));
    return ClientUnit(header.SerializeAsString());
  }
  static std::string Request(const std::string& row) {
    hbase::pb::RequestHeader header;
    header.set_call_id(1);
    header.set_method_name("Get");
    header.set_request_param(true);
    return rpc::EncodeRequest(header, rpc::MakeGet(row), {});
  }
  // "user/size of the value", or the text of the error. `frame`: without its length.
  static std::string Answer(const std::string& frame) {
    if (frame.empty()) return "closed";
    const rpc::ParsedAnswer answer = rpc::ParseAnswer(frame);
    if (answer.header.has_exception()) return answer.header.exception().stack_trace();
    std::string_view body = answer.body;
    std::string_view message;
    hbase::pb::GetResponse response;
    if (!rpc::CutDelimited(body, message) || !response.ParseFromArray(message.data(), static_cast<int>(message.size())))
      return "unreadable";
    return fmt::format("{}/{}", response.result().cell(0).row(), response.result().cell(0).value().size());
  }
  // A call by a new connection in plain text after its login.
  [[nodiscard]] std::string CallInPlain() const {
    RawClient raw(server_->port());
    GssClient client;
    if (std::string refusal = Begin(raw, client, Protection::kAuth); !refusal.empty()) return refusal;
    raw.Send(Header() + Request("row"));
    return Answer(raw.ReadFrame());
  }

  static inline fs::path directory_;
  static inline int made_ = -1;
  std::unique_ptr<rpc::RpcServer> server_;
};

TEST_F(KerberosTest, ATicketNamesTheUser) { EXPECT_EQ(CallInPlain(), "alice/3"); }

TEST_F(KerberosTest, ProtectedConnectionsCarryLargeFrames) {
  for (const Protection protection : {Protection::kIntegrity, Protection::kPrivacy}) {
    RawClient raw(server_->port());
    GssClient client;
    ASSERT_EQ(Begin(raw, client, protection), "");
    const bool encrypt = protection == Protection::kPrivacy;
    const std::string row(3'000'000, 'r');
    raw.Send(ClientUnit(client.Wrap(Header(), encrypt)));
    raw.Send(ClientUnit(client.Wrap(Request(row), encrypt)));
    std::string plain;
    while (plain.size() < 4 || plain.size() < 4 + std::size_t{rpc::ReadBig32(plain)}) {
      const std::string unit = raw.ReadFrame();
      ASSERT_FALSE(unit.empty());
      EXPECT_LE(unit.size(), 65'536U);
      bool encrypted = false;
      const std::string opened = client.Unwrap(unit, &encrypted);
      ASSERT_FALSE(opened.empty());
      EXPECT_EQ(encrypted, encrypt);
      plain += opened;
    }
    EXPECT_EQ(Answer(plain.substr(4)), "alice/3000000");
    raw.Send(ClientUnit(client.Wrap(Request("a"), !encrypt)));
    const std::string last = raw.ReadFrame();
    ASSERT_FALSE(last.empty());
    const std::string answer = Answer(client.Unwrap(last).substr(4));
    EXPECT_THAT(answer, encrypt ? HasSubstr("a unit that is not encrypted") : HasSubstr("alice/1"));
  }
}

TEST_F(KerberosTest, ARecordedLoginOpensNoConnection) {
  std::string recorded;
  {
    RawClient raw(server_->port());
    GssClient client;
    ASSERT_EQ(Begin(raw, client, Protection::kAuth, &recorded), "");
  }
  RawClient again(server_->port());
  again.Send(recorded + Header() + Request("row"));
  EXPECT_THAT(again.ReadUnit(), ::testing::StartsWith("`"));
  EXPECT_FALSE(again.ReadUnit().empty());
  EXPECT_THAT(again.ReadUnit(), HasSubstr("Kerberos login refused"));
  EXPECT_TRUE(again.WaitClosed());
}

TEST_F(KerberosTest, ALoginWithoutProofOfTheServerIsRefused) {
  RawClient raw(server_->port());
  GssClient client(GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG);
  EXPECT_THAT(Begin(raw, client, Protection::kAuth), HasSubstr("mutual authentication"));
}

TEST_F(KerberosTest, AnOfferIsNarrowedToTheSettings) {
  Serve(Keytab("service"), static_cast<std::uint8_t>(Protection::kPrivacy));
  RawClient raw(server_->port());
  GssClient client;
  ASSERT_EQ(Begin(raw, client, Protection::kAuth), "");
  EXPECT_THAT(raw.ReadUnit(), HasSubstr("this process wants auth-conf"));
}

// A man in the middle would like less protection. GssapiSaslTest has the server's side.
TEST_F(KerberosTest, AnOfferThatWasChangedOnItsWayIsNoticedByTheClient) {
  Serve(Keytab("service"), static_cast<std::uint8_t>(Protection::kPrivacy));
  const std::string sent = "\x04\xFF\xFF\xFF";
  std::size_t refused = 0;
  std::size_t size = 1;
  for (std::size_t i = 0; i < size; ++i) {
    RawClient raw(server_->port());
    GssClient client;
    raw.Send("HBas\0Q"s + ClientUnit(client.Step({})));
    client.Step(raw.ReadUnit());
    raw.Send(ClientUnit({}));
    std::string offer = raw.ReadUnit();
    ASSERT_GT(offer.size(), sent.size());
    size = offer.size();
    offer[i] = static_cast<char>(offer[i] ^ 1);
    const std::string plain = client.Unwrap(offer);
    EXPECT_TRUE(plain.empty() || plain == sent) << "byte " << i << " gives another offer";
    if (plain.empty()) ++refused;
  }
  EXPECT_GE(refused + 2, size) << "MIT's library does not look at each byte of the head";
}

TEST_F(KerberosTest, APrincipalOfAnotherRealmHasNoUser) {
  LogInAs("carol", "OTHER");
  EXPECT_THAT(CallInPlain(), HasSubstr("'carol@OTHER' is of another realm than TEST"));
}

TEST_F(KerberosTest, KeysThatTheKdcDoesNotHaveAreRefusedWithTheReason) {
  Serve(Keytab("wrong"));
  EXPECT_THAT(CallInPlain(), HasSubstr("Kerberos login refused"));
}

TEST_F(KerberosTest, AReplacedKeytabCountsForTheNextLogin) {
  const std::string keytab = Keytab("current");
  fs::copy_file(Keytab("wrong"), keytab, fs::copy_options::overwrite_existing);
  Serve(keytab);
  EXPECT_THAT(CallInPlain(), HasSubstr("Kerberos login refused"));
  fs::copy_file(Keytab("service"), keytab + ".next", fs::copy_options::overwrite_existing);
  fs::rename(keytab + ".next", keytab);
  EXPECT_EQ(CallInPlain(), "alice/3");
}

TEST_F(KerberosTest, AKeytabThatCannotBeUsedStopsTheStart) {
  const auto open = [](const std::string& keytab, const std::string& principal) {
    const auto opened = GssAcceptor::Open(keytab, principal, kAllProtections);
    return opened.ok() ? "opened" : opened.error().message();
  };
  EXPECT_THAT(open(Keytab("none"), kService), HasSubstr("cannot open"));
  EXPECT_THAT(open(Keytab("service"), "hbase/elsewhere@TEST"), HasSubstr("no usable key of hbase/elsewhere@TEST"));
  const std::string readable = Keytab("readable");
  fs::copy_file(Keytab("service"), readable, fs::copy_options::overwrite_existing);
  fs::permissions(readable, fs::perms::others_read, fs::perm_options::add);
  EXPECT_THAT(open(readable, kService), HasSubstr("chmod 600"));
  const std::string garbage = Keytab("garbage");
  std::ofstream(garbage, std::ios::binary) << std::string(100, 'x');
  fs::permissions(garbage, fs::perms::owner_read);
  EXPECT_THAT(open(garbage, kService), HasSubstr("no usable key"));
}

}  // namespace
}  // namespace ratchet::kerberos
