#include "common/tls/process_tls.h"

#include <chrono>
#include <thread>

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

}  // namespace
}  // namespace ratchet::tls
