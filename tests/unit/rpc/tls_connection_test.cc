// TLS on real connections: what passes, and what is refused on which side.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/connect_socket.h"
#include "common/io/listen_sockets.h"
#include "common/rpc/handshake.h"
#include "common/rpc/tls_handshakes.h"
#include "tests/support/members.h"
#include "tests/support/tcp_forwarder.h"
#include "tests/unit/rpc/false_server.h"
#include "tests/unit/rpc/raw_tls.h"
#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;
using hbase::pb::GetResponse;

constexpr char kTlsMemberKey[] = "proof-the key of this cluster";
constexpr std::array<char, 6> kHelloBegin{0x16, 0x03, 0x01, 0x02, 0x00, 0x01};

bool Mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The lines of this process's log since the object was made.
class LinesOfLog {
 public:
  LinesOfLog() { EXPECT_TRUE(OpenLog({LogLevel::kInfo, path_}).ok()); }
  ~LinesOfLog() {
    ConfigureLog({});
    std::remove(path_.c_str());
  }
  LinesOfLog(const LinesOfLog&) = delete;
  LinesOfLog& operator=(const LinesOfLog&) = delete;
  [[nodiscard]] std::string Text() const {
    FlushLog();
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  const std::string path_ = ::testing::TempDir() + "tls_connection_test_" + std::to_string(::getpid()) + ".log";
};

class TlsConnectionTest : public ::testing::Test {
 protected:
  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }
  void Serve(std::shared_ptr<const tls::ProcessTls> tls, Millis setup = Millis(10'000)) {
    ServerOptions options;
    options.tls = std::move(tls);
    options.setup_timeout = setup;
    Echo(std::move(options));
  }
  // A server that answers a row as a cell block, whatever its size.
  void Echo(ServerOptions options) {
    server_ = std::make_unique<RpcServer>(std::move(options));
    auto service = std::make_shared<Service>(methods::kClientService);
    service->On(methods::kGet,
                [](const CallContext&, const hbase::pb::GetRequest& request, std::string_view,
                   const Responder<GetResponse>& responder) { responder.Reply({}, request.get().row()); });
    server_->Add(service);
    ASSERT_TRUE(server_->Start().ok());
  }
  void Serve(const std::string& accept) { Serve(files_.Make(accept, false)); }
  Result<Reply<GetResponse>> CallBy(const std::shared_ptr<const tls::ProcessTls>& tls) {
    ChannelPoolOptions options;
    options.tls = tls;
    ChannelPool pool(std::move(options));
    return pool.CallSync(methods::kGet, endpoint(), MakeGet("r"));
  }
  std::string WhyRefused(const std::shared_ptr<const tls::ProcessTls>& tls) {
    const auto answer = CallBy(tls);
    return answer.ok() ? std::string() : answer.error().ToString();
  }

  TestCertificates files_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(TlsConnectionTest, CallsOfAllSizesPassInBothDirections) {
  Serve("require");
  ChannelPoolOptions options;
  options.tls = files_.Make("off", true);
  ChannelPool pool(std::move(options));
  for (const std::size_t size : {1u, 1000u, 16u << 10, 100'000u, 1u << 20, 5u << 20}) {
    std::string row(size, 'x');
    for (std::size_t i = 0; i < size; i += 97) row[i] = static_cast<char>(i / 97);
    const auto answer = pool.CallSync(methods::kGet, endpoint(), MakeGet(row));
    ASSERT_TRUE(answer.ok()) << answer.error().ToString();
    EXPECT_TRUE(Mentions(answer->cells, row)) << size;
  }
  std::atomic<int> answered{0};
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 8; ++thread) {
    callers.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const std::string row = std::string(static_cast<std::size_t>(i) * 37, 'r') + std::to_string(thread);
        const auto answer = pool.CallSync(methods::kGet, endpoint(), MakeGet("w" + row));
        if (answer.ok() && Mentions(answer->cells, row)) ++answered;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered.load(), 8 * 200);
  EXPECT_TRUE(Eventually([this] { return server_->stats().unsent_bytes == 0; }));
}

TEST_F(TlsConnectionTest, APlainTextClientIsToldThatThePortRequiresTls) {
  Serve("require");
  const std::string why = WhyRefused(nullptr);
  EXPECT_TRUE(Mentions(why, "this port speaks TLS only")) << why;
  EXPECT_EQ(server_->stats().calls_received, 0u);
  RawClient client(server_->port());
  client.Send("Regist");
  EXPECT_TRUE(Mentions(client.ReadFrame(), "this port speaks TLS only"));
  EXPECT_TRUE(client.WaitClosed());
}

// Test 20 of identity: no time-out ends these, and the refusal is all that the port says.
TEST_F(TlsConnectionTest, OtherProtocolsGetTheRefusalOnly) {
  Serve(files_.Make("require", false), Millis(600'000));
  const std::string old_hello =
      "\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10\x01\x00\x80\x02\x00\x80\x03\x00\x80\x04\x00\x80\x05\x00\x80\x06\x00"
      "\x40"
      "\x07\x00\xc0"s +
      std::string(16, 'r');
  ASSERT_EQ(old_hello.size(), 2 + 0x2eU) << "the length of a hello of SSL 2.0 is behind its first bit";
  const std::string refusal =
      ConnectionExceptionFrame(RemoteError(exception::kFatalConnection, "this port speaks TLS only"));
  for (const std::string& bytes : {old_hello, old_hello.substr(0, 1), "GET / HTTP/1.1\r\nHost: master\r\n\r\n"s, "G"s,
                                   "\x15\x03\x01\x00\x02\x01\x00"s}) {
    RawClient client(server_->port());
    client.Send(bytes);
    const auto all = client.ReadToEnd();
    ASSERT_TRUE(all.has_value()) << "not closed";
    EXPECT_EQ(*all, refusal);
  }
  EXPECT_EQ(server_->stats().calls_received, 0u);
  EXPECT_EQ(WhyRefused(files_.Make("off", true)), "");
}

TEST_F(TlsConnectionTest, ServingPlainTextAnywayIsNoticed) {
  const ScopedMutant mutant("tls.plain_text_anyway");
  const ScopedMutant remains("tls.plain_text_remains");  // S162 (require ends plain text) would close the connection
  Serve("require");
  EXPECT_EQ(WhyRefused(nullptr), "");
}

TEST_F(TlsConnectionTest, AcceptServesBoth) {
  Serve("accept");
  EXPECT_EQ(WhyRefused(nullptr), "");
  EXPECT_EQ(WhyRefused(files_.Make("off", true)), "");
}

TEST_F(TlsConnectionTest, APortWithoutTlsClosesATlsClientWithoutAByte) {
  for (const auto& tls : {std::shared_ptr<tls::ProcessTls>(), files_.Make("accept", false)}) {
    if (tls != nullptr) tls->Want({});
    ASSERT_TRUE(tls == nullptr || Eventually([&] { return tls->accepts() == tls::TlsMode::kOff; }));
    Serve(tls);
    const std::string why = WhyRefused(files_.Make("off", true));
    EXPECT_TRUE(Mentions(why, tls == nullptr ? "no TLS connection" : "is --tls off there?")) << why;
    EXPECT_EQ(server_->stats().calls_received, 0u);
  }
}

TEST_F(TlsConnectionTest, CertificatesOfOthersAreRefusedByBothSides) {
  Serve("require");
  const std::string none = WhyRefused(files_.Make("off", true, {}));
  EXPECT_TRUE(Mentions(none, "certificate required")) << none;
  files_.ChangeAuthority();
  const std::string other = WhyRefused(files_.Make("off", true));
  EXPECT_TRUE(Mentions(other, "self-signed certificate") || Mentions(other, "unable to get local issuer")) << other;
  EXPECT_EQ(server_->stats().calls_received, 0u);
}

// Test 26 of identity. One line a second at most, so each certificate has a server of its own.
TEST_F(TlsConnectionTest, TheReasonOfARefusedCertificateIsInTheLog) {
  const std::string pem = files_.authority().CertificatePem();
  const tls::Identity root = tls::Identity::FromPem(files_.authority().KeyPem(), pem);
  const auto with = [&](const std::function<void(tls::Handmade&)>& change, const tls::Identity* issuer) {
    tls::Handmade wanted;
    change(wanted);
    return std::optional<tls::Shown>({tls::Make(wanted, issuer), {}});
  };
  using std::chrono::hours;
  for (const auto& [shown, why] : std::vector<std::pair<std::optional<tls::Shown>, std::string>>{
           {with([](auto& wanted) { wanted.from = hours(-48), wanted.until = hours(-24); }, &root),
            "certificate has expired"},
           {with([](auto& wanted) { wanted.from = hours(1); }, &root), "certificate is not yet valid"},
           {with([](auto& wanted) { wanted.usages = "serverAuth"; }, &root), "unsuitable certificate purpose"},
           {with([](auto& wanted) { wanted.common_name = "root"; }, nullptr), "self-signed certificate"},
           {with([](auto& wanted) { wanted.rsa_bits = 1'024; }, &root), "key too weak"},
           {std::nullopt, "peer did not return a certificate"}}) {
    const LinesOfLog log;
    Serve("require");
    RawTlsClient client(server_->port(), shown.has_value() ? &*shown : nullptr);
    static_cast<void>(client.Shake());  // the verdict comes after it in TLS 1.3
    EXPECT_TRUE(client.WaitClosed()) << why;
    const auto text = log.Text();
    EXPECT_TRUE(Mentions(text, "connection from 127.0.0.1:")) << text;
    EXPECT_TRUE(Mentions(text, why)) << text;
    EXPECT_EQ(server_->stats().bad_connections, 1u) << why;
  }
}

// Tests 4 and 5 of identity: a program that has what a client has (a certificate of the right authority), or nothing.
class FalseTlsServerTest : public TlsConnectionTest {
 protected:
  [[nodiscard]] tls::Shown Certificate(const std::string& usages) const {
    tls::Handmade wanted;
    wanted.usages = usages;
    const std::string pem = files_.authority().CertificatePem();
    const tls::Identity root = tls::Identity::FromPem(files_.authority().KeyPem(), pem);
    return {tls::Make(wanted, &root), {}};
  }
  ChannelPoolOptions OptionsOf(const std::shared_ptr<MemberIdentity>& member) {
    ChannelPoolOptions options;
    options.user = "the user's name";
    options.tls = files_.Make("off", true);
    options.member = member;
    return options;
  }
  // A client, or a member, calls the program twice.
  void ExpectNothingIsSent(const std::optional<tls::Shown>& shown, const std::shared_ptr<MemberIdentity>& member,
                           const std::string& why) {
    FalseTlsServer server(shown);
    ChannelPool pool(OptionsOf(member));
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto answer = pool.CallSync(methods::kGet, {"127.0.0.1", server.port()}, MakeGet("secret row"));
      ASSERT_FALSE(answer.ok());
      EXPECT_TRUE(IsClass(answer.error(), kNotSent)) << answer.error().ToString();
      EXPECT_TRUE(Mentions(answer.error().message(), why)) << answer.error().ToString();
    }
    pool.Stop();
    EXPECT_EQ(server.established(), 0);
    EXPECT_EQ(server.opened(), "");
    const std::string seen = server.seen();
    EXPECT_EQ(seen.substr(0, 1), "\x16");
    for (const char* secret : {"secret row", "HBas", "the user's name", kTlsMemberKey})
      EXPECT_FALSE(Mentions(seen, secret)) << secret;
  }
};

TEST_F(FalseTlsServerTest, AClientsCertificateOrNoneMakesNoServer) {
  const auto of_client = Certificate("clientAuth");
  for (const auto& member : {std::shared_ptr<MemberIdentity>(), MakeMember({kTlsMemberKey}, ProofPolicy::kAccept)}) {
    ExpectNothingIsSent(of_client, member, "unsuitable certificate purpose");
    ExpectNothingIsSent(std::nullopt, member, "no TLS connection");
  }
}

// If a client or a member accepts such a program as a server, it reads what they send.
TEST_F(FalseTlsServerTest, TakingAnyServerIsNoticed) {
  const ScopedMutant mutant("tls.any_server");
  const auto member = MakeMember({kTlsMemberKey}, ProofPolicy::kAccept);
  for (const auto& [of, first] :
       {std::pair{std::shared_ptr<MemberIdentity>(), "secret row"s}, std::pair{member, MemberPreamble()}}) {
    FalseTlsServer server(Certificate("clientAuth"));
    ChannelPool pool(OptionsOf(of));
    // The program never answers the call: it ends when the pool stops.
    pool.Call(methods::kGet, {"127.0.0.1", server.port()}, MakeGet("secret row"), {}, [](const auto&) {});
    EXPECT_TRUE(Eventually([&, part = first] { return Mentions(server.opened(), part); }));
    pool.Stop();
    EXPECT_FALSE(Mentions(server.opened(), kTlsMemberKey)) << "a server proves itself first";
  }
}

TEST_F(TlsConnectionTest, AServerOfAnotherNameGetsNoRequest) {
  Serve(files_.Make("require", false, {"127.0.0.1", {"other.example", "127.0.0.2"}}));
  const std::string why = WhyRefused(files_.Make("off", true));
  EXPECT_TRUE(Mentions(why, "IP address mismatch")) << why;
  EXPECT_EQ(server_->stats().calls_received, 0u);
}

TEST_F(TlsConnectionTest, AClientNeverFallsBackToPlainText) {
  for (const std::string& reply :
       {"HTTP/1.1 400 Bad Request\r\n\r\n"s, "\0\0\0\4\0\0\0\0"s, "\x15\x03\x03\x00\x02\x02\x28"s}) {
    FalseServer server(reply);
    for (const auto& member : {std::shared_ptr<MemberIdentity>(), MakeMember({kTlsMemberKey}, ProofPolicy::kAccept)}) {
      ChannelPoolOptions options;
      options.user = "the user's name";
      options.tls = files_.Make("off", true);
      options.member = member;
      ChannelPool pool(std::move(options));
      for (int attempt = 0; attempt < 2; ++attempt) {
        const auto answer = pool.CallSync(methods::kGet, {"127.0.0.1", server.port()}, MakeGet("secret row"));
        ASSERT_FALSE(answer.ok());
        EXPECT_TRUE(IsClass(answer.error(), kNotSent)) << answer.error().ToString();
      }
    }
    const std::string seen = server.seen();
    EXPECT_EQ(seen.substr(0, 1), "\x16");
    for (const char* secret : {"secret row", "HBas", "the user's name", kTlsMemberKey})
      EXPECT_FALSE(Mentions(seen, secret));
  }
}

TEST_F(TlsConnectionTest, AHandshakeThatDoesNotEndIsClosedInTime) {
  Serve(files_.Make("require", false), Millis(100));
  RawClient client(server_->port());
  client.Send({kHelloBegin.data(), kHelloBegin.size()});
  EXPECT_TRUE(client.WaitClosed());
  EXPECT_TRUE(Eventually([this] { return server_->stats().connections_open == 0; }));
}

TEST_F(TlsConnectionTest, HandshakesOfOneAddressAreBounded) {
  Serve("require");
  std::vector<RawClient> clients;
  for (std::size_t i = 0; i < TlsHandshakes::kMostOfAddress; ++i) {
    clients.emplace_back(server_->port());
    clients.back().Send({kHelloBegin.data(), kHelloBegin.size()});
  }
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open == clients.size(); }));
  RawClient one_more(server_->port());
  one_more.Send({kHelloBegin.data(), kHelloBegin.size()});
  EXPECT_TRUE(one_more.WaitClosed());
  clients.clear();
  ASSERT_TRUE(Eventually([this] { return server_->stats().connections_open == 0; }));
  EXPECT_EQ(WhyRefused(files_.Make("off", true)), "");
}

// The number of 512 strangers' addresses that get a place, and whether a member then gets one.
std::pair<std::size_t, bool> PlacesOfStrangers() {
  TlsHandshakes handshakes("test");
  handshakes.NoteMember("member");
  std::size_t places = 0;
  for (std::size_t i = 0; i < TlsHandshakes::kMost; ++i)
    if (handshakes.Enter("stranger " + std::to_string(i))) ++places;
  return {places, handshakes.Enter("member")};
}

TEST(TlsHandshakesTest, PlacesAreKeptForMembers) {
  EXPECT_EQ(PlacesOfStrangers(), (std::pair{TlsHandshakes::kMost - TlsHandshakes::kKeptForMembers, true}));
}

TEST(TlsHandshakesTest, NoPlacesForMembersIsNoticed) {
  const ScopedMutant mutant("tls.no_places_for_members");
  EXPECT_FALSE(PlacesOfStrangers().second);
}

TEST_F(TlsConnectionTest, AConnectionEndsWithItsClientsCertificate) {
  Serve("require");
  tls::CertificateRequest request{"short", {}};
  request.lifetime = std::chrono::seconds(5);
  ChannelPoolOptions options;
  options.tls = files_.Make("off", true, request);
  ChannelPool pool(std::move(options));
  ASSERT_TRUE(pool.CallSync(methods::kGet, endpoint(), MakeGet("r")).ok());
  EXPECT_TRUE(Eventually([this] { return server_->stats().connections_open == 0; }));
  // The first call may find the old connection closed; the next one connects, and is refused.
  EXPECT_TRUE(Eventually([&] {
    const auto answer = pool.CallSync(methods::kGet, endpoint(), MakeGet("r"));
    return !answer.ok() && Mentions(answer.error().ToString(), "expired");
  }));
}

// S162 (require ends plain text)
class TlsReloadTest : public TlsConnectionTest {
 protected:
  void SetUp() override {
    options_.accept = "accept";
    options_.files.trust = files_.Write("ca-reload", files_.authority().CertificatePem());
    options_.files.certificate = files_.Write("own-reload", *files_.authority().Issue({"member", {"127.0.0.1"}}));
    tls_ = *tls::ProcessTls::Open(options_, tls::TlsMaterial::Use::kMember);
    Serve(tls_);
  }
  void TearDown() override { pool_.Stop(); }
  [[nodiscard]] bool Call() { return pool_.CallSync(methods::kGet, endpoint(), MakeGet("r")).ok(); }
  void Require() {
    options_.accept = "require";
    tls_->Want(options_);
    ASSERT_TRUE(Eventually([this] { return tls_->accepts() == tls::TlsMode::kRequire; }));
  }
  tls::TlsOptions options_;
  std::shared_ptr<tls::ProcessTls> tls_;
  ChannelPool pool_{ChannelPoolOptions{}};
};

TEST_F(TlsReloadTest, AConnectionInPlainTextEndsWhenTlsIsRequired) {
  ASSERT_TRUE(Call());
  EXPECT_EQ(server_->stats().plain_peers, (ClientVersions::Counts{{"127.0.0.1", 1}}));
  Require();
  EXPECT_FALSE(Call());
  EXPECT_TRUE(Eventually([this] { return server_->stats().plain_peers.empty(); }));
}

TEST_F(TlsReloadTest, PlainTextThatRemainsIsNoticed) {
  const ScopedMutant mutant("tls.plain_text_remains");
  ASSERT_TRUE(Call());
  Require();
  EXPECT_TRUE(Call());
}

// A man in the middle who has a certificate of the cluster's authority: opens what both sides send, and passes it on.
class TlsRelay {
 public:
  TlsRelay(std::shared_ptr<const tls::TlsContext> context, std::function<std::uint16_t()> target)
      : context_(std::move(context)), target_(std::move(target)), listening_(*io::ListenOn("127.0.0.1", 0)) {
    thread_ = std::thread([this] { Run(); });
  }
  ~TlsRelay() {
    stopping_ = true;
    thread_.join();
  }
  TlsRelay(const TlsRelay&) = delete;
  TlsRelay& operator=(const TlsRelay&) = delete;
  [[nodiscard]] std::uint16_t port() const { return listening_.port; }

 private:
  // Returns false at the end of either side.
  static bool Pump(const io::FileDescriptor& from, tls::TlsSession& session, std::string& plain) {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(from.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
    return got < 0 || session.Feed({bytes.data(), static_cast<std::size_t>(got)}, plain).ok();
  }
  static void Pass(const io::FileDescriptor& to, tls::TlsSession& session, std::string& plain) {
    std::string bytes;
    const std::array<std::string_view, 1> parts{plain};
    if (session.established() && !plain.empty()) {
      static_cast<void>(session.Seal(parts, bytes));
      plain.clear();
    } else {
      static_cast<void>(session.Seal({}, bytes));
    }
    if (!bytes.empty()) static_cast<void>(::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  void Serve(const io::FileDescriptor& client) {
    auto server = io::ConnectTo("127.0.0.1", target_(), SystemClock().Now() + Millis(5'000));
    const auto to_client = context_->Accept();
    const auto to_server = context_->Connect("127.0.0.1");
    std::string from_client;
    std::string from_server;
    static_cast<void>(to_server->Begin());
    while (!stopping_) {
      Pass(client, *to_client, from_server);
      Pass(server.socket, *to_server, from_client);
      std::array<pollfd, 2> ready{pollfd{client.get(), POLLIN, 0}, pollfd{server.socket.get(), POLLIN, 0}};
      ::poll(ready.data(), ready.size(), 20);
      if (!Pump(client, *to_client, from_client) || !Pump(server.socket, *to_server, from_server)) return;
    }
  }
  void Run() {
    while (!stopping_) {
      pollfd door{listening_.sockets.front().get(), POLLIN, 0};
      if (::poll(&door, 1, 20) <= 0) continue;
      Serve(io::FileDescriptor(::accept4(door.fd, nullptr, nullptr, SOCK_CLOEXEC)));
    }
  }
  const std::shared_ptr<const tls::TlsContext> context_;
  const std::function<std::uint16_t()> target_;
  io::ListenSockets listening_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

class TlsMemberTest : public TlsConnectionTest {
 protected:
  void SetUp() override {
    own_ = MakeMember({kTlsMemberKey});
    ServerOptions options;
    options.tls = files_.Make("require", false);
    options.member = own_;
    Echo(std::move(options));
    NameMember(*own_, *server_);
  }
  std::string WhyNoMember(std::uint16_t port) {
    ChannelPoolOptions options;
    options.tls = files_.Make("off", true);
    options.member = MakeMember({kTlsMemberKey});
    ChannelPool pool(std::move(options));
    const auto answer = pool.CallSync(methods::kGet, {"127.0.0.1", port}, MakeGet("r"));
    return answer.ok() ? std::string() : answer.error().ToString();
  }
  // The relay is at the address of the wanted server.
  std::string WhyNoMemberThroughRelay() {
    const TlsRelay relay(files_.Make("accept", true)->context(), [this] { return server_->port(); });
    own_->SetName({"127.0.0.1", relay.port(), 1});
    return WhyNoMember(relay.port());
  }
  std::shared_ptr<MemberIdentity> own_;
};

TEST_F(TlsMemberTest, MembersProveThemselvesInsideTls) { EXPECT_EQ(WhyNoMember(server_->port()), ""); }

TEST_F(TlsMemberTest, AProofIsWorthlessOnAnotherConnection) {
  const std::string why = WhyNoMemberThroughRelay();
  EXPECT_TRUE(Mentions(why, "wrong proof")) << why;
  EXPECT_EQ(server_->stats().calls_received, 0u);
}

// Test 5 of identity. The problem ends when the true server is at the address.
TEST_F(TlsMemberTest, AProgramWithAClientsCertificateIsNamedInTheProblems) {
  tls::Handmade wanted;
  wanted.usages = "clientAuth";
  const std::string pem = files_.authority().CertificatePem();
  const tls::Identity root = tls::Identity::FromPem(files_.authority().KeyPem(), pem);
  FalseTlsServer program(tls::Shown{tls::Make(wanted, &root), {}});
  testing_support::TcpForwarder relay;
  relay.LeadTo(program.port());
  ChannelPoolOptions options;
  options.tls = files_.Make("off", true);
  const auto member = MakeMember({kTlsMemberKey});
  options.member = member;
  ChannelPool pool(std::move(options));
  const Endpoint address{"127.0.0.1", relay.port()};
  EXPECT_FALSE(pool.CallSync(methods::kGet, address, MakeGet("r")).ok());
  const auto problems = member->Problems();
  ASSERT_EQ(problems.size(), 1u);
  for (const std::string& part : {address.ToString(), "no TLS connection"s, "unsuitable certificate purpose"s})
    EXPECT_TRUE(Mentions(problems.front(), part)) << problems.front();
  own_->SetName({"127.0.0.1", relay.port(), 1});
  relay.LeadTo(server_->port());
  EXPECT_TRUE(Eventually([&] { return pool.CallSync(methods::kGet, address, MakeGet("r")).ok(); }));
  EXPECT_TRUE(member->Problems().empty());
}

TEST_F(TlsMemberTest, AProofThatARelayCanPassOnIsNoticed) {
  const ScopedMutant mutant("tls.unbound_proof");
  EXPECT_EQ(WhyNoMemberThroughRelay(), "");
}

}  // namespace
}  // namespace ratchet::rpc
