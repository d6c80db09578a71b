// Users from principals of Kerberos, S159 (only its own realm has short names), test 17 of identity.
#include "common/identity/principal_users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/identity/certificate_callers.h"
#include "common/rights/rights_entry.h"

namespace ratchet::identity {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string NameOf(const PrincipalUsers& users, const std::string& principal) {
  const auto user = users.UserOf(principal, "TEST");
  return user.ok() ? *user : "refused: " + user.error().message();
}

PrincipalUsers WithRules(const std::string& text) {
  auto users = PrincipalUsers::Parse(text);
  EXPECT_TRUE(users.ok()) << users.error().ToString();
  return users.ok() ? *users : PrincipalUsers();
}

TEST(PrincipalUsersTest, NamesOfTheOwnRealmAreUsers) {
  EXPECT_EQ(NameOf({}, "alice@TEST"), "alice");
  EXPECT_EQ(RealmOf("hbase/host@TEST"), "TEST");
  EXPECT_EQ(RealmOf("hbase"), "");
}

TEST(PrincipalUsersTest, OtherPrincipalsNeedARule) {
  EXPECT_THAT(NameOf({}, "alice@OTHER"), HasSubstr("is of another realm than TEST"));
  EXPECT_THAT(NameOf({}, "alice@test"), HasSubstr("is of another realm"));
  EXPECT_THAT(NameOf({}, "alice/admin@TEST"), HasSubstr("has more than one part"));
  EXPECT_THAT(NameOf({}, "alice/admin@OTHER"), HasSubstr("is of another realm"));
  const PrincipalUsers users = WithRules("([a-z]+)@OTHER other-\\1\n([a-z]+)/admin@TEST \\1-admin\nroot@TEST nobody\n");
  EXPECT_EQ(NameOf(users, "alice@OTHER"), "other-alice");
  EXPECT_EQ(NameOf(users, "alice/admin@TEST"), "alice-admin");
  EXPECT_EQ(NameOf(users, "root@TEST"), "nobody");
  EXPECT_EQ(NameOf(users, "alice@TEST"), "alice");
  EXPECT_THAT(NameOf(users, "alice@THIRD"), HasSubstr("no rule of --principal-rules matches it"));
  const ScopedMutant mutant("identity.any_realm");
  EXPECT_EQ(NameOf({}, "alice@OTHER"), "alice");
}

TEST(PrincipalUsersTest, PrincipalsWhosePartsAreUnclearHaveNoUser) {
  for (const char* principal : {"", "alice", "@TEST", "root@TEST@OTHER", "root\\@TEST@OTHER", "a\\/b@TEST",
                                "a\\nb@TEST", "a\nb@TEST", "a,b@TEST", "@ops@TEST", "a@", "@"})
    EXPECT_THAT(NameOf({}, principal), ::testing::StartsWith("refused")) << principal;
  const auto nowhere = PrincipalUsers().UserOf("alice@", "");
  EXPECT_FALSE(nowhere.ok());
  EXPECT_THAT(NameOf(WithRules(".* root\n"), "root\\@TEST@OTHER"), ::testing::StartsWith("refused"));
}

TEST(PrincipalUsersTest, RandomPrincipalsGiveUsersThatRightsKnow) {
  constexpr std::string_view kAlphabet = "ab@/\\,TEST\n\xff";
  Prng random(20'261'130);
  for (int round = 0; round < 20'000; ++round) {
    std::string principal;
    for (std::uint64_t left = random.Below(12); left > 0; --left)
      principal += kAlphabet[random.Below(kAlphabet.size())];
    if (random.Below(2) == 0) principal += "@TEST";
    const auto user = PrincipalUsers().UserOf(principal, "TEST");
    if (!user.ok()) continue;
    EXPECT_TRUE(rights::CheckGrantee(*user).ok()) << principal;
    EXPECT_EQ(*user + "@TEST", principal);
  }
}

class PrincipalCallersTest : public ::testing::Test {
 protected:
  PrincipalCallersTest() : file_(fs::path(::testing::TempDir()) / ("ratchet_proxies_" + std::to_string(::getpid()))) {}
  ~PrincipalCallersTest() override { fs::remove(file_); }
  // "user authentication real claimed", or the refusal.
  [[nodiscard]] std::string Decide(const std::string& principal, const std::string& effective,
                                   const std::string& real = {}) const {
    const auto callers = CertificateCallers::Open(options_);
    if (!callers.ok()) return callers.error().ToString();
    rpc::CallerClaims claims;
    claims.principal = principal;
    claims.own_principal = "hbase/localhost@TEST";
    claims.effective_user = effective;
    claims.real_user = real;
    claims.address = "10.0.0.7";
    const auto caller = (*callers)->Decide(claims);
    if (!caller.ok()) return "refused: " + caller.error().message();
    return caller->user + " " + std::to_string(static_cast<int>(caller->authentication)) + " " + caller->real_user +
           " " + caller->claimed_user;
  }
  // The user that a refused client has proven.
  [[nodiscard]] std::string Proven(const std::string& principal, const std::string& effective) const {
    const auto callers = CertificateCallers::Open(options_);
    if (!callers.ok()) return callers.error().ToString();
    rpc::CallerClaims claims;
    claims.principal = principal;
    claims.own_principal = "hbase/localhost@TEST";
    claims.effective_user = effective;
    return (*callers)->Proven(claims);
  }
  void AllowProxies(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    options_.proxy_users = file_;
  }

  const fs::path file_;
  IdentityOptions options_;
};

TEST_F(PrincipalCallersTest, TheUserIsThePrincipals) {
  for (const char* claimed : {"", "alice", "alice@TEST"}) EXPECT_EQ(Decide("alice@TEST", claimed), "alice 4  ");
  EXPECT_EQ(Decide("alice@TEST", "alice@TEST", "alice@TEST"), "alice 4  ");
}

TEST_F(PrincipalCallersTest, ActingForAnotherUserNeedsARule) {
  EXPECT_THAT(Decide("alice@TEST", "root"), HasSubstr("user alice may not act for user root from 10.0.0.7"));
  EXPECT_THAT(Decide("alice@TEST", "root@TEST"), HasSubstr("may not act for user root"));
  EXPECT_THAT(Decide("alice@TEST", "root@OTHER"), HasSubstr("is of another realm"));
  EXPECT_THAT(Decide("alice@TEST", "alice", "root"), HasSubstr("claims to be the real user root"));
  EXPECT_THAT(Decide("alice@TEST", "root", "root"), HasSubstr("claims to be the real user root"));
  EXPECT_EQ(Proven("alice@TEST", "root"), "alice") << "for the record of the refusal";
  EXPECT_EQ(Proven("alice@OTHER", "root"), "");
  AllowProxies("hue bob 10.0.0.0/24\n");
  EXPECT_EQ(Decide("hue@TEST", "bob"), "bob 4 hue ");
  EXPECT_EQ(Decide("hue@TEST", "bob", "hue"), "bob 4 hue ");
  EXPECT_THAT(Decide("hue@TEST", "root"), HasSubstr("may not act for"));
  EXPECT_THAT(Decide("alice@TEST", "bob"), HasSubstr("may not act for"));
  const ScopedMutant mutant("identity.any_proxy");
  EXPECT_EQ(Decide("alice@TEST", "root"), "root 4 alice ");
}

TEST_F(PrincipalCallersTest, AClientWithoutALoginIsRefused) {
  EXPECT_THAT(Decide("", "root"), HasSubstr("users log in with Kerberos here"));
  options_.simple_users = "on";
  EXPECT_EQ(Decide("", "root"), "root 0  ");
  options_.simple_users = "off";
  const ScopedMutant mutant("identity.kerberos_is_optional");
  EXPECT_EQ(Decide("", "root"), "root 0  ");
}

}  // namespace
}  // namespace ratchet::identity
