// Logins of the page: passwords and tokens in a file of hashes.
#include "common/identity/page_logins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "common/base/mutant.h"
#include "common/base/prng.h"

namespace ratchet::identity {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

std::string Base64(const std::string& text) {
  std::string encoded(text.size() * 4 / 3 + 4, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  encoded.resize(static_cast<std::size_t>(size));
  return encoded;
}

std::string Basic(const std::string& user, const std::string& password) {
  return "Basic " + Base64(user + ":" + password);
}

class PageLoginsTest : public ::testing::Test {
 protected:
  PageLoginsTest() : directory_(fs::path(::testing::TempDir()) / ("ratchet_logins_" + std::to_string(::getpid()))) {
    fs::create_directories(directory_);
    options_.file = directory_ / "logins";
  }
  ~PageLoginsTest() override { fs::remove_all(directory_); }

  void Write(const std::string& text, mode_t mode = 0600) const {
    const std::string next = options_.file + ".next";
    std::ofstream(next, std::ios::binary) << text;
    ASSERT_EQ(::chmod(next.c_str(), mode), 0);
    fs::rename(next, options_.file);
  }
  void WriteBoth() const {
    const auto password = LoginFile::PasswordLine("alice", "correct horse");
    const auto token = LoginFile::TokenLine("prometheus", kToken);
    ASSERT_TRUE(password.ok() && token.ok());
    Write("# logins\n" + *password + "\n" + *token + "\n");
  }
  [[nodiscard]] std::shared_ptr<PageLogins> Open() const {
    auto logins = PageLogins::Open(options_, clock_, Millis(10));
    EXPECT_TRUE(logins.ok()) << logins.error().ToString();
    return logins.ok() ? *logins : nullptr;
  }
  [[nodiscard]] std::string Refusal() const {
    const auto logins = PageLogins::Open(options_, clock_, Millis(10));
    return logins.ok() ? std::string() : logins.error().message();
  }
  template <class Condition>
  static bool Eventually(Condition holds) {
    const SystemClock clock;
    const TimePoint deadline = clock.Now() + Millis(20'000);
    while (!holds() && clock.Now() < deadline) std::this_thread::yield();
    return holds();
  }

  const fs::path directory_;
  PageLoginOptions options_;
  SystemClock clock_;
};

TEST_F(PageLoginsTest, APasswordAndATokenBelongToTheirUsers) {
  WriteBoth();
  const auto logins = Open();
  EXPECT_TRUE(logins->wanted());
  const std::string right = Basic("alice", "correct horse");
  EXPECT_FALSE(logins->IsQuick(right));
  EXPECT_EQ(logins->Decide(right, "10.0.0.7").user, "alice");
  EXPECT_TRUE(logins->IsQuick(right)) << "the next request compares no password";
  EXPECT_EQ(logins->Decide(right, "10.0.0.7").user, "alice");
  EXPECT_EQ(logins->Decide(std::string("BEARER ") + kToken, "10.0.0.7").user, "prometheus");
}

TEST_F(PageLoginsTest, WrongSecretsHaveNoUser) {
  WriteBoth();
  const auto logins = Open();
  for (const std::string& field :
       {Basic("alice", "correct horse "), Basic("alice", ""), Basic("", ""), Basic("bob", "correct horse"),
        Basic("prometheus", kToken), std::string("Bearer correct horse"), std::string("Bearer "), std::string("Bearer"),
        std::string("Basic !!!"), std::string("Basic "), std::string("Negotiate x"), std::string()}) {
    const auto login = logins->Decide(field, "10.0.0.7");
    EXPECT_THAT(login.user, IsEmpty()) << field;
    EXPECT_FALSE(login.why.empty()) << field;
  }
}

TEST_F(PageLoginsTest, TakingAnyPasswordIsNoticed) {
  const ScopedMutant mutant("page.any_password");
  WriteBoth();
  EXPECT_EQ(Open()->Decide(Basic("alice", "wrong"), "10.0.0.7").user, "alice");
}

TEST_F(PageLoginsTest, RandomFieldsAreRefused) {
  WriteBoth();
  const auto logins = Open();
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes;
    for (std::uint64_t left = prng.Below(60); left > 0; --left) bytes += static_cast<char>(prng.Below(256));
    EXPECT_THAT(logins->Decide("Bearer " + bytes, "10.0.0.7").user, IsEmpty());
    if (!logins->IsQuick("Basic " + bytes)) continue;
    EXPECT_THAT(logins->Decide("Basic " + bytes, "10.0.0.7").user, IsEmpty());
  }
}

TEST_F(PageLoginsTest, AnAddressThatGuessesIsRefusedForAMinute) {
  WriteBoth();
  const auto logins = Open();
  for (std::uint32_t i = 0; i < PageLogins::kMostWrong; ++i)
    EXPECT_FALSE(logins->Decide("Bearer wrong", "10.0.0.7").too_many);
  EXPECT_TRUE(logins->Decide(Basic("alice", "correct horse"), "10.0.0.7").too_many);
  EXPECT_EQ(logins->Decide(std::string("Bearer ") + kToken, "10.0.0.7").user, "prometheus") << "a token is not guessed";
  EXPECT_EQ(logins->Decide(Basic("alice", "correct horse"), "10.0.0.8").user, "alice");
}

TEST_F(PageLoginsTest, GuessingWithoutEndIsNoticed) {
  const ScopedMutant mutant("page.endless_guesses");
  WriteBoth();
  const auto logins = Open();
  for (std::uint32_t i = 0; i < PageLogins::kMostWrong; ++i)
    EXPECT_FALSE(logins->Decide("Bearer wrong", "10.0.0.7").too_many);
  EXPECT_FALSE(logins->Decide(Basic("alice", "correct horse"), "10.0.0.7").too_many);
}

TEST_F(PageLoginsTest, AFileThatCannotBeUsedIsRefused) {
  const auto line = LoginFile::PasswordLine("alice", "correct horse");
  ASSERT_TRUE(line.ok());
  Write(*line, 0644);
  EXPECT_THAT(Refusal(), HasSubstr("chmod 600"));
  Write("");
  EXPECT_THAT(Refusal(), HasSubstr("it has no login"));
  for (const std::string& text :
       {std::string("password alice"), std::string("password alice plain"),
        "password alice " + std::string("scrypt:1:8:5:00:00"), std::string("password alice scrypt:30:8:5:00:00"),
        std::string("token a sha256:00"), std::string("key a b"),
        std::string("token @a sha256:") + std::string(64, '0'), *line + "\n" + *line}) {
    Write(text);
    EXPECT_THAT(Refusal(), HasSubstr("line ")) << text;
  }
  fs::remove(options_.file);
  EXPECT_THAT(Refusal(), HasSubstr("No such file"));
}

TEST_F(PageLoginsTest, AReloadReplacesAllLoginsOrNone) {
  WriteBoth();
  const auto logins = Open();
  const std::string alice = Basic("alice", "correct horse");
  EXPECT_EQ(logins->Decide(alice, "10.0.0.7").user, "alice");
  Write("password alice");
  ASSERT_TRUE(Eventually([&] { return !logins->Problems().empty(); }));
  EXPECT_THAT(logins->Problems().front(), HasSubstr("the previous logins remain in use"));
  EXPECT_EQ(logins->Decide(alice, "10.0.0.7").user, "alice");
  const auto bob = LoginFile::PasswordLine("bob", "battery staple");
  ASSERT_TRUE(bob.ok());
  Write(*bob);
  ASSERT_TRUE(Eventually([&] { return logins->Problems().empty(); }));
  EXPECT_THAT(logins->Decide(alice, "10.0.0.8").user, IsEmpty()) << "a password that is gone is no longer known";
  EXPECT_EQ(logins->Decide(Basic("bob", "battery staple"), "10.0.0.8").user, "bob");
}

TEST_F(PageLoginsTest, ShortSecretsAndStrangeUsersGetNoLine) {
  EXPECT_FALSE(LoginFile::PasswordLine("alice", "short").ok());
  EXPECT_FALSE(LoginFile::PasswordLine("al:ice", "correct horse").ok());
  EXPECT_FALSE(LoginFile::PasswordLine("@ops", "correct horse").ok());
  EXPECT_FALSE(LoginFile::TokenLine("a,b", kToken).ok());
  EXPECT_FALSE(LoginFile::TokenLine("alice", "short").ok());
  EXPECT_EQ(LoginFile::NewToken().size(), 2 * kTokenBytes);
  EXPECT_NE(LoginFile::NewToken(), LoginFile::NewToken());
}

}  // namespace
}  // namespace ratchet::identity
