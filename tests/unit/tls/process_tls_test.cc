#include "common/tls/process_tls.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/mutant.h"
#include "tests/unit/tls/tls_fixture.h"

namespace ratchet::tls {
namespace {

class ProcessTlsTest : public TlsTest {
 protected:
  [[nodiscard]] TlsOptions Options(const std::string& accept = "require") const {
    TlsOptions options;
    options.accept = accept;
    options.connect = true;
    options.files = Files();
    return options;
  }
  template <class Condition>
  static bool Await(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return condition();
  }
};

TEST_F(ProcessTlsTest, WithoutSettingsThereIsNoTls) {
  const auto tls = ProcessTls::Open({}, TlsMaterial::Use::kMember);
  ASSERT_TRUE(tls.ok());
  EXPECT_EQ((*tls)->accepts(), TlsMode::kOff);
  EXPECT_FALSE((*tls)->connects());
  EXPECT_EQ((*tls)->context(), nullptr);
}

TEST_F(ProcessTlsTest, AModeWithoutFilesIsRefused) {
  TlsOptions options;
  options.accept = "accept";
  EXPECT_FALSE(ProcessTls::Open(options, TlsMaterial::Use::kMember).ok());
  options.accept = "off";
  options.connect = true;
  EXPECT_FALSE(ProcessTls::Open(options, TlsMaterial::Use::kClient).ok());
}

TEST_F(ProcessTlsTest, ANewCertificateIsUsedAndABadOneIsNot) {
  const auto opened = ProcessTls::Open(Options(), TlsMaterial::Use::kMember, Millis(1));
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  ProcessTls& tls = **opened;
  const auto first = tls.context();
  Issue("member.pem", {"member", {"localhost"}});
  ASSERT_TRUE(Await([&] { return tls.context() != first; }));
  const auto second = tls.context();
  const std::string whole = *authority_->Issue({"member", {"localhost"}});
  for (const std::string& bad : {std::string(), whole.substr(0, whole.size() / 2), std::string("nonsense")}) {
    Write("member.pem", bad);
    ASSERT_TRUE(Await([&] { return !tls.Problems().empty(); }));
    EXPECT_NE(tls.Problems().front().find("member.pem"), std::string::npos) << tls.Problems().front();
    EXPECT_EQ(tls.context(), second);
    EXPECT_EQ(tls.accepts(), TlsMode::kRequire);
  }
  Write("member.pem", whole);
  EXPECT_TRUE(Await([&] { return tls.Problems().empty() && tls.context() != second; }));
}

// A program that stays connected for long outlives its certificate and the authority.
TEST_F(ProcessTlsTest, AClientFollowsItsFilesToo) {
  TlsOptions options = Options("off");
  const auto opened = ProcessTls::Open(options, TlsMaterial::Use::kClient, Millis(1));
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  const auto first = (*opened)->context();
  Issue("member.pem", {"member", {"localhost"}});
  EXPECT_TRUE(Await([&] { return (*opened)->context() != first; }));
}

// Also where the files are whole and cannot be used.
TEST_F(ProcessTlsTest, AKeyOfAnotherAndAFileThatCannotBeReadChangeNothing) {
  const TlsOptions options = Options();
  const auto opened = ProcessTls::Open(options, TlsMaterial::Use::kMember, Millis(1));
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  ProcessTls& tls = **opened;
  const std::string& path = options.files.certificate;
  const std::string cut = "-----BEGIN CERTIFICATE-----";
  const std::vector<std::pair<std::string, std::function<void()>>> bad{
      {"does not belong",
       [&] {
         const std::string one = *authority_->Issue({"member", {"localhost"}});
         const std::string two = *authority_->Issue({"member", {"localhost"}});
         Write("member.pem", one.substr(0, one.find(cut)) + two.substr(two.find(cut)));
       }},
      {"cannot open", [&] { std::filesystem::remove(path); }},
      {"not a regular file", [&] { std::filesystem::remove(path), std::filesystem::create_directory(path); }},
      {"chmod 600",
       [&] {
         const std::string next = Issue("next.pem", {"member", {"localhost"}});
         std::filesystem::permissions(next, std::filesystem::perms(0644));
         std::filesystem::rename(next, path);
       }},
  };
  for (const auto& [problem, spoil] : bad) {
    const auto before = tls.context();
    spoil();
    const auto shown = [&] {
      const auto problems = tls.Problems();
      return problems.empty() ? std::string() : problems.front();
    };
    ASSERT_TRUE(Await([&, problem = problem] { return shown().find(problem) != std::string::npos; }))
        << problem << ": " << shown();
    EXPECT_NE(shown().find("member.pem"), std::string::npos) << shown();
    EXPECT_EQ(tls.context(), before);
    if (std::filesystem::is_directory(path)) std::filesystem::remove(path);
    Issue("member.pem", {"member", {"localhost"}});
    ASSERT_TRUE(Await([&] { return tls.Problems().empty() && tls.context() != before; })) << problem;
  }
}

TEST_F(ProcessTlsTest, AReloadAppliesAllOptionsOrNone) {
  const auto opened = ProcessTls::Open({}, TlsMaterial::Use::kMember);
  ASSERT_TRUE(opened.ok());
  ProcessTls& tls = **opened;
  TlsOptions options = Options("accept");
  options.files.trust = directory_ + "/missing.pem";
  tls.Want(options);
  ASSERT_TRUE(Await([&] { return !tls.Problems().empty(); }));
  EXPECT_EQ(tls.accepts(), TlsMode::kOff);
  EXPECT_FALSE(tls.connects());
  tls.Want(Options("accept"));
  EXPECT_TRUE(Await([&] { return tls.connects(); }));
  EXPECT_EQ(tls.accepts(), TlsMode::kAccept);
  EXPECT_TRUE(tls.Problems().empty());
  tls.Want(Options("off"));
  EXPECT_TRUE(Await([&] { return tls.accepts() == TlsMode::kOff; }));
}

TEST_F(ProcessTlsTest, AReloadThatLetsOthersInIsRefused) {
  const auto opened = ProcessTls::Open(Options(), TlsMaterial::Use::kMember, Millis(1));
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  ProcessTls& tls = **opened;
  ASSERT_TRUE(tls.exposure()->Begin(/*reached=*/true, /*insecure=*/false, /*kerberos=*/false).ok());
  for (const char* accept : {"accept", "off"}) {
    tls.Want(Options(accept));
    ASSERT_TRUE(Await([&] { return !tls.Problems().empty(); })) << accept;
    EXPECT_NE(tls.Problems().front().find("--insecure"), std::string::npos) << tls.Problems().front();
    EXPECT_EQ(tls.accepts(), TlsMode::kRequire);
    tls.Want(Options());
    ASSERT_TRUE(Await([&] { return tls.Problems().empty(); }));
  }
  TlsOptions anonymous = Options();
  anonymous.client_certificates = "want";
  tls.Want(anonymous);
  ASSERT_TRUE(Await([&] { return !tls.Problems().empty(); }));
  EXPECT_TRUE(tls.only_certificates());
}

TEST_F(ProcessTlsTest, AReloadThatExposesIsNoticed) {
  const ScopedMutant mutant("tls.reload_exposes");
  const auto opened = ProcessTls::Open(Options(), TlsMaterial::Use::kMember, Millis(1));
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  ASSERT_TRUE((*opened)->exposure()->Begin(/*reached=*/true, /*insecure=*/false, /*kerberos=*/false).ok());
  (*opened)->Want(Options("off"));
  EXPECT_TRUE(Await([&] { return (*opened)->accepts() == TlsMode::kOff; }));
}

}  // namespace
}  // namespace ratchet::tls
