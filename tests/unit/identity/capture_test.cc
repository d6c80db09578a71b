// Captures of frames hold what TLS encrypts: a server with a protection refuses them at its start, and a reload that
// switches one on ends them. Test 45 of identity.
#include "common/rpc/capture.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/config.h"
#include "common/base/mutant.h"

namespace ratchet::rpc {
namespace {

namespace fs = std::filesystem;

class CaptureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    ::setenv("RATCHET_DUMP_FRAMES", folder_.c_str(), 1);
    Bind(settings_);
  }
  void TearDown() override {
    ::unsetenv("RATCHET_DUMP_FRAMES");
    fs::remove_all(folder_);
  }
  // Settings with the names and the defaults of a server's.
  void Bind(Settings& settings) {
    settings.AddText({"tls", "", {}}, &tls_);
    settings.AddBool({"tls-connect", "", {}}, &connect_);
    settings.AddText({"tls-user-from", "", {}}, &user_from_);
    settings.AddText({"rights", "", {}}, &rights_);
    settings.AddText({"kerberos-keytab", "", {}}, &keytab_);
    settings.AddText({"log-level", "", {}}, &level_);
  }
  // The error of a start with this argument; empty: the start is not refused.
  std::string WhyRefused(const std::string& argument) {
    Settings settings("server", "");
    Bind(settings);
    Parse(settings, argument);
    const Status begun = Capture::BeginProcess(settings);
    if (begun.ok()) return "";
    EXPECT_EQ(begun.error().code(), Code::kInvalidArgument);
    return begun.error().message();
  }
  static void Parse(Settings& settings, const std::string& argument) {
    const std::vector<const char*> words{"server", argument.c_str()};
    std::string output;
    EXPECT_TRUE(settings.Parse(argument.empty() ? 1 : 2, words.data(), &output).ok()) << argument;
  }
  // The bytes of all captures.
  [[nodiscard]] std::string Captured() const {
    std::string bytes;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(file), {});
    }
    return bytes;
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / fmt::format("ratchet-captures-{}", ::getpid());
  Settings settings_{"server", ""};
  std::string tls_ = "off", user_from_ = "off", rights_ = "off", keytab_, level_ = "info";
  bool connect_ = false;
};

TEST_F(CaptureTest, AServerWithAProtectionRefusesThem) {
  EXPECT_EQ(WhyRefused(""), "");
  EXPECT_EQ(WhyRefused("--log-level=debug"), "");
  for (const char* argument : {"--tls=accept", "--tls=require", "--tls-connect=true", "--tls-user-from=cn",
                               "--rights=log", "--rights=enforce", "--kerberos-keytab=/etc/keytab"}) {
    const std::string why = WhyRefused(argument);
    const std::string name = std::string(argument).substr(0, std::string(argument).find('='));
    EXPECT_NE(why.find("RATCHET_DUMP_FRAMES"), std::string::npos) << argument;
    EXPECT_NE(why.find(name + " must protect"), std::string::npos) << why;
    EXPECT_NE(why.find("unset RATCHET_DUMP_FRAMES"), std::string::npos) << why;
    EXPECT_EQ(why.find("/etc/keytab"), std::string::npos) << "names only: " << why;
  }
  ::setenv("RATCHET_DUMP_FRAMES", "", 1);
  EXPECT_EQ(WhyRefused("--tls=require"), "") << "none are asked for";
  ::unsetenv("RATCHET_DUMP_FRAMES");
  EXPECT_EQ(WhyRefused("--tls=require"), "");
}

TEST_F(CaptureTest, CapturesOfSecretsAreNoticed) {
  const ScopedMutant mutant("rpc.captures_of_secrets");
  EXPECT_EQ(WhyRefused("--tls=require"), "") << "the check above would not notice";
}

// The last test of this program with captures: they stay off.
TEST_F(CaptureTest, AReloadThatProtectsEndsThem) {
  const fs::path file = folder_.string() + ".conf";
  std::ofstream(file) << "log-level = info\n";
  Parse(settings_, "--config=" + file.string());
  ASSERT_TRUE(Capture::BeginProcess(settings_).ok());
  Capture open("open");
  open.ToServer("first");
  EXPECT_EQ(Captured(), "first");
  ASSERT_TRUE(settings_.Reload().ok());
  open.ToServer(" second");
  EXPECT_EQ(Captured(), "first second") << "no protection was switched on";
  std::ofstream(file) << "tls = accept\n";
  ASSERT_TRUE(settings_.Reload().ok());
  open.ToServer(" third");
  Capture("later").ToClient("fourth");
  EXPECT_EQ(Captured(), "first second");
  fs::remove(file);
}

}  // namespace
}  // namespace ratchet::rpc
