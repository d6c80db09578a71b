// Decisions about the user of one connection, by its certificate and its claims.
#include "common/identity/certificate_callers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/tls/process_tls.h"
#include "tests/support/manual_time.h"
#include "tests/unit/rpc/rpc_fixture.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace ratchet::identity {
namespace {

namespace fs = std::filesystem;
using rpc::Authentication;
using rpc::Caller;
using rpc::CallerClaims;

class CertificateCallersTest : public ::testing::Test {
 protected:
  CertificateCallersTest()
      : directory_(fs::path(::testing::TempDir()) / ("ratchet_users_" + std::to_string(::getpid()))) {
    fs::create_directories(directory_);
    options_.user_from = "cn";
  }
  ~CertificateCallersTest() override { fs::remove_all(directory_); }
  [[nodiscard]] std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = directory_ / name;
    std::ofstream(path + ".next", std::ios::binary) << text;
    fs::rename(path + ".next", path);
    return path;
  }
  [[nodiscard]] std::shared_ptr<CertificateCallers> Open(Millis look_every = Millis(10)) const {
    auto callers = CertificateCallers::Open(options_, look_every);
    EXPECT_TRUE(callers.ok()) << callers.error().ToString();
    return callers.ok() ? *callers : nullptr;
  }
  // The answer as "user authentication real claimed", or the refusal.
  [[nodiscard]] std::string Decide(const std::string& effective = "root", const std::string& real = "",
                                   bool encrypted = true) const {
    return Text(*Open(), effective, real, encrypted);
  }
  [[nodiscard]] std::string Text(const CertificateCallers& callers, const std::string& effective = "root",
                                 const std::string& real = "", bool encrypted = true) const {
    CallerClaims claims;
    claims.certificate = shows_ ? &certificate_ : nullptr;
    claims.encrypted = encrypted;
    claims.effective_user = effective;
    claims.real_user = real;
    claims.address = "10.0.0.7";
    claims.own_principal = own_principal_;
    const auto caller = callers.Decide(claims);
    if (!caller.ok()) return "refused: " + caller.error().message();
    const char* by = caller->authentication == Authentication::kCertificate ? "certificate" : "simple";
    return caller->user + " " + by + " " + caller->real_user + " " + caller->claimed_user;
  }
  static bool Refused(const std::string& text) { return text.starts_with("refused"); }

  const fs::path directory_;
  IdentityOptions options_;
  bool shows_ = true;
  std::string own_principal_;
  tls::PeerCertificate certificate_{"CN=alice,O=Example", {"alice"}, {"spiffe://a/b"}, {"a.example"}, "1f"};
};

TEST_F(CertificateCallersTest, OffBelievesTheHeader) {
  options_.user_from = "off";
  EXPECT_EQ(Decide("bob"), "bob simple  ");
  shows_ = false;
  EXPECT_EQ(Decide("bob", "", false), "bob simple  ");
}

TEST_F(CertificateCallersTest, EachKindOfNameCanBeTheUser) {
  EXPECT_EQ(Decide(), "alice certificate  root");
  EXPECT_EQ(Decide("alice"), "alice certificate  ");
  options_.user_from = "san-uri";
  EXPECT_EQ(Decide(), "spiffe://a/b certificate  root");
  options_.user_from = "san-dns";
  EXPECT_EQ(Decide(), "a.example certificate  root");
  options_.user_from = "subject";
  EXPECT_TRUE(Refused(Decide())) << "a subject has commas and needs rules";
  options_.user_rules = Write("rules", "CN=([a-z]+),O=Example \\1\n");
  EXPECT_EQ(Decide(), "alice certificate  root");
}

TEST_F(CertificateCallersTest, ACertificateWithoutExactlyOneNameHasNoUser) {
  certificate_.common_names = {"alice", "root"};
  EXPECT_EQ(Decide(), "refused: the certificate has 2 common names (CN); a user needs exactly one");
  options_.user_from = "subject";
  options_.user_rules = Write("rules", "(.*),(.*) \\1\n");
  EXPECT_TRUE(Refused(Decide()));
  options_ = {};
  for (const char* from : {"cn", "san-uri", "san-dns"}) {
    certificate_ = {};
    options_.user_from = from;
    EXPECT_TRUE(Refused(Decide())) << from;
  }
}

TEST_F(CertificateCallersTest, AConnectionWithoutACertificateIsRefused) {
  shows_ = false;
  EXPECT_NE(Decide().find("this client has shown none"), std::string::npos) << Decide();
  EXPECT_NE(Decide("bob", "", false).find("speaks plain text"), std::string::npos);
  options_.simple_users = "on";
  EXPECT_EQ(Decide("bob", "", false), "bob simple  ");
  EXPECT_TRUE(Refused(Decide())) << "a client that speaks TLS can show a certificate";
}

TEST_F(CertificateCallersTest, ActingForAnotherUserNeedsARule) {
  certificate_.common_names = {"hue"};
  EXPECT_EQ(Decide("alice", "hue"),
            "refused: user hue may not act for user alice from 10.0.0.7: no rule of --proxy-users allows it");
  options_.proxy_users = Write("proxies", "hue alice 10.0.0.0/24\n");
  EXPECT_EQ(Decide("alice", "hue"), "alice certificate hue ");
  EXPECT_TRUE(Refused(Decide("root", "hue")));
  EXPECT_TRUE(Refused(Decide("alice", "root")));
  EXPECT_TRUE(Refused(Decide("root", "root")));
  EXPECT_TRUE(Refused(Decide("", "hue")));
  EXPECT_EQ(Decide("hue", "hue"), "hue certificate  ");
}

TEST_F(CertificateCallersTest, ARefusedClientHasTheUserThatItHasProven) {
  const auto proven = [this](const std::string& real) {
    CallerClaims claims;
    claims.certificate = shows_ ? &certificate_ : nullptr;
    claims.effective_user = "root";
    claims.real_user = real;
    return Open()->Proven(claims);
  };
  certificate_.common_names = {"hue"};
  EXPECT_EQ(proven("hue"), "hue");
  EXPECT_EQ(proven("root"), "hue") << "whatever it claims";
  certificate_.common_names = {"hue", "root"};
  EXPECT_EQ(proven("hue"), "") << "the certificate is nobody's";
  shows_ = false;
  EXPECT_EQ(proven("hue"), "");
}

TEST_F(CertificateCallersTest, ActingWithoutARuleIsNoticed) {
  const ScopedMutant mutant("identity.any_proxy");
  certificate_.common_names = {"hue"};
  EXPECT_EQ(Decide("root", "hue"), "root certificate hue ");
}

TEST_F(CertificateCallersTest, FilesAreFollowedAndABadOneChangesNothing) {
  options_.user_rules = Write("rules", "alice eve\n");
  const auto callers = Open();
  EXPECT_EQ(Text(*callers, "eve"), "eve certificate  ");
  const std::uint64_t before = callers->changes();
  const auto rules = Write("rules", "alice (\n(");
  ASSERT_TRUE(rpc::Eventually([&] { return !callers->Problems().empty(); }));
  EXPECT_NE(callers->Problems().front().find(rules), std::string::npos);
  EXPECT_EQ(Text(*callers, "eve"), "eve certificate  ");
  EXPECT_EQ(callers->changes(), before);
  EXPECT_FALSE(Write("rules", "alice bob\n").empty());
  ASSERT_TRUE(rpc::Eventually([&] { return callers->Problems().empty(); }));
  EXPECT_EQ(Text(*callers, "bob"), "bob certificate  ");
  EXPECT_GT(callers->changes(), before);
  options_.user_from = "off";
  callers->Want(options_);
  EXPECT_TRUE(rpc::Eventually([&] { return Text(*callers, "eve") == "eve simple  "; }));
}

struct Setting {
  tls::PortFacts port;
  std::string user_from;
  std::string simple_users;
  bool kerberos;
};

std::vector<Setting> AllSettings() {
  std::vector<Setting> all;
  for (const tls::PortFacts& port : {tls::PortFacts{false, false}, {true, false}, {true, true}})
    for (const char* from : {"off", "cn"})
      for (const char* simple : {"off", "on"})
        for (const bool kerberos : {false, true}) all.push_back({port, from, simple, kerberos});
  return all;
}

Status Pass(tls::Exposure& exposure, const Setting& setting) {
  RATCHET_TRY(exposure.ChangePort(setting.port, [] {}));
  return exposure.ChangeUsers({setting.user_from != "off", setting.simple_users == "on"}, [] {});
}

// S154 (no silent exposure). The decisions about clients are the second opinion: a process may be reached by others if
// a client that proves nothing gets no user by TLS, or no connection, and if plain text is refused.
TEST_F(CertificateCallersTest, AProcessIsExposedIfAStrangerGetsAUser) {
  shows_ = false;
  int exposed = 0;
  for (const Setting& setting : AllSettings()) {
    SCOPED_TRACE(fmt::format("TLS only {}, certificates only {}, --tls-user-from {}, --simple-users {}, Kerberos {}",
                             setting.port.only_tls, setting.port.only_certificates, setting.user_from,
                             setting.simple_users, setting.kerberos));
    options_.user_from = setting.user_from;
    options_.simple_users = setting.simple_users;
    own_principal_ = setting.kerberos ? "hbase/node1@TEST" : "";
    const auto callers = Open();
    const bool by_tls = !Refused(Text(*callers, "eve", "", true));
    const bool in_plain_text = !Refused(Text(*callers, "eve", "", false));
    const bool safe = setting.port.only_tls && (setting.port.only_certificates || !by_tls);

    tls::Exposure exposure;
    ASSERT_TRUE(Pass(exposure, setting).ok()) << "before the start of the server nothing is refused";
    const Status begun = exposure.Begin(true, false, setting.kerberos);
    EXPECT_EQ(begun.ok(), safe);
    EXPECT_EQ(exposure.Weakness().empty(), safe);
    EXPECT_EQ(exposure.NamesItself(), by_tls || (in_plain_text && !setting.port.only_tls));
    if (safe) continue;
    ++exposed;
    EXPECT_NE(begun.error().message().find(exposure.Weakness()), std::string::npos) << begun.error().message();
    // The text says only what is true of this process.
    const std::string weakness = exposure.Weakness();
    EXPECT_EQ(weakness.find("plain text") != std::string::npos, !setting.port.only_tls) << weakness;
    EXPECT_EQ(weakness.find("name their own user") != std::string::npos, by_tls || in_plain_text) << weakness;
    EXPECT_TRUE(exposure.Begin(true, true, setting.kerberos).ok()) << "--insecure";
    EXPECT_EQ(exposure.Weakness(), weakness);
    EXPECT_TRUE(exposure.Begin(false, false, setting.kerberos).ok()) << "loopback";
    EXPECT_EQ(exposure.Weakness(), "");
  }
  EXPECT_EQ(exposed, 8 + 3);  // all with plain text, and those by TLS where clients name themselves
}

// Every change from every safe state: it is applied if the result is safe, and changes nothing otherwise.
TEST_F(CertificateCallersTest, NoReloadExposesAProcess) {
  int refused = 0;
  for (const Setting& from : AllSettings()) {
    for (const Setting& to : AllSettings()) {
      if (from.kerberos != to.kerberos) continue;
      tls::Exposure exposure;
      ASSERT_TRUE(Pass(exposure, from).ok());
      if (!exposure.Begin(true, false, from.kerberos).ok()) continue;
      bool port_applied = false;
      bool users_applied = false;
      const Status port = exposure.ChangePort(to.port, [&] { port_applied = true; });
      EXPECT_EQ(port.ok(), port_applied);
      EXPECT_EQ(exposure.Weakness(), "");
      const Status users =
          exposure.ChangeUsers({to.user_from != "off", to.simple_users == "on"}, [&] { users_applied = true; });
      EXPECT_EQ(users.ok(), users_applied);
      EXPECT_EQ(exposure.Weakness(), "");
      if (!port.ok() || !users.ok()) ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

// A reload may change the port and the users at once. One of the two is applied first, whichever is safe.
TEST_F(CertificateCallersTest, AReloadOfBothIsAppliedInASafeOrder) {
  rpc::TestCertificates files;
  tls::TlsOptions tls;
  tls.accept = "require";
  tls.files.trust = files.Write("ca", files.authority().CertificatePem());
  tls.files.certificate = files.Write("own", *files.authority().Issue({"server", {"127.0.0.1"}}));
  const auto opened = tls::ProcessTls::Open(tls, tls::TlsMaterial::Use::kMember, Millis(10));
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  options_.user_from = "off";
  const auto callers = CertificateCallers::Open(options_, Millis(10), (*opened)->exposure());
  ASSERT_TRUE(callers.ok()) << callers.error().ToString();
  ASSERT_TRUE((*opened)->exposure()->Begin(true, false, false).ok());
  shows_ = false;

  tls.client_certificates = "want";  // waits for the users
  (*opened)->Want(tls);
  ASSERT_TRUE(rpc::Eventually([&] { return !(*opened)->Problems().empty(); }));
  EXPECT_NE((*opened)->Problems().front().find("clients without a certificate name their own user"), std::string::npos)
      << (*opened)->Problems().front();
  EXPECT_TRUE((*opened)->only_certificates());
  options_.user_from = "cn";
  (*callers)->Want(options_);
  ASSERT_TRUE(rpc::Eventually([&] { return !(*opened)->only_certificates(); }));
  EXPECT_TRUE(rpc::Eventually([&] { return (*opened)->Problems().empty(); }));

  options_.user_from = "off";  // waits for the port
  (*callers)->Want(options_);
  ASSERT_TRUE(rpc::Eventually([&] { return !(*callers)->Problems().empty(); }));
  EXPECT_TRUE(Refused(Text(**callers)));
  tls.client_certificates = "need";
  (*opened)->Want(tls);
  EXPECT_TRUE(rpc::Eventually([&] { return !Refused(Text(**callers)); }));
  EXPECT_TRUE((*opened)->only_certificates());
}

TEST_F(CertificateCallersTest, AReloadOfUsersThatExposesIsNoticed) {
  const ScopedMutant mutant("identity.reload_exposes");
  tls::Exposure exposure;
  ASSERT_TRUE(Pass(exposure, {{true, false}, "cn", "off", false}).ok());
  ASSERT_TRUE(exposure.Begin(true, false, false).ok());
  EXPECT_TRUE(exposure.ChangeUsers({}, [] {}).ok());
  EXPECT_EQ(exposure.Weakness(), "clients without a certificate name their own user");
}

// The problem that `ratchet status` shows and the metric follow the settings.
TEST_F(CertificateCallersTest, AnInsecureProcessShowsTheProblemAsLongAsItHasIt) {
  const auto exposure = std::make_shared<tls::Exposure>();
  const auto opened = CertificateCallers::Open({}, Millis(10), exposure);
  ASSERT_TRUE(opened.ok());
  EXPECT_FALSE((*opened)->exposed());
  ASSERT_TRUE(exposure->Begin(true, true, false).ok());
  EXPECT_TRUE((*opened)->exposed());
  EXPECT_EQ(
      (*opened)->Problems(),
      std::vector<std::string>{"others reach this process, and it accepts plain text, in which clients name their "
                               "own user (--insecure)"});
  ASSERT_TRUE(exposure->ChangePort({true, true}, [] {}).ok());
  EXPECT_FALSE((*opened)->exposed());
  EXPECT_TRUE((*opened)->Problems().empty());
}

// Lines go to a file for the life of the object.
class LogInFile {
 public:
  explicit LogInFile(std::string path) : path_(std::move(path)) { EXPECT_TRUE(OpenLog({LogLevel::kInfo, path_}).ok()); }
  ~LogInFile() { EXPECT_TRUE(OpenLog({}).ok()); }
  LogInFile(const LogInFile&) = delete;
  LogInFile& operator=(const LogInFile&) = delete;
  [[nodiscard]] int Count(const std::string& text) const {
    FlushLog();
    std::ifstream file(path_);
    int lines = 0;
    for (std::string line; std::getline(file, line);) lines += line.find(text) == std::string::npos ? 0 : 1;
    return lines;
  }

 private:
  const std::string path_;
};

TEST_F(CertificateCallersTest, AnInsecureProcessLogsALineEachHour) {
  const LogInFile log(directory_ / "log");
  const auto exposure = std::make_shared<tls::Exposure>();
  ASSERT_TRUE(exposure->Begin(true, true, false).ok());
  const auto time = std::make_shared<ManualTime>();
  const auto opened = CertificateCallers::Open({}, Millis(60'000), exposure, time);
  ASSERT_TRUE(opened.ok());
  // Two whole turns of the thread: the end of the first one precedes the rules of the second one.
  const auto lines = [&] {
    for (int turn = 0; turn < 2; ++turn) {
      const std::uint64_t before = (*opened)->changes();
      (*opened)->LookSoon();
      EXPECT_TRUE(rpc::Eventually([&] { return (*opened)->changes() > before; }));
    }
    return log.Count("security: others reach this process, and it accepts plain text");
  };
  constexpr Millis kHour{3'600'000};
  EXPECT_EQ(lines(), 0) << "the start has a line of its own";
  time->Advance(kHour - Millis(1));
  EXPECT_EQ(lines(), 0);
  time->Advance(Millis(1));
  EXPECT_EQ(lines(), 1);
  EXPECT_EQ(lines(), 1) << "once an hour";
  time->Advance(kHour);
  EXPECT_EQ(lines(), 2);
  ASSERT_TRUE(exposure->ChangePort({true, true}, [] {}).ok());
  time->Advance(kHour);
  EXPECT_EQ(lines(), 2) << "the process refuses strangers now";
}

TEST_F(CertificateCallersTest, AMissingFileStopsTheStart) {
  options_.user_rules = directory_ / "missing";
  const auto callers = CertificateCallers::Open(options_);
  ASSERT_FALSE(callers.ok());
  EXPECT_NE(callers.error().message().find("missing"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::identity
