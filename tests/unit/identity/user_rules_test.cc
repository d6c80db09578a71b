// Users from names in certificates: what a rule makes of a name, and which names have no user.
#include "common/identity/user_rules.h"

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/identity/rule_file.h"
#include "common/rights/rights_entry.h"

namespace ratchet::identity {
namespace {

using namespace std::string_literals;

UserRules Rules(const std::string& text) {
  auto rules = UserRules::Parse(text);
  EXPECT_TRUE(rules.ok()) << rules.error().ToString();
  return rules.ok() ? *rules : UserRules();
}
std::string UserOf(const UserRules& rules, const std::string& name) {
  auto user = rules.UserOf(name);
  return user.ok() ? *user : "refused: " + user.error().message();
}
bool Refused(const UserRules& rules, const std::string& name) { return !rules.UserOf(name).ok(); }
std::string WhyBad(const std::string& text) {
  const auto rules = UserRules::Parse(text);
  return rules.ok() ? std::string() : rules.error().message();
}

TEST(UserRulesTest, WithoutRulesTheNameIsTheUser) {
  EXPECT_EQ(UserOf({}, "alice"), "alice");
  EXPECT_EQ(UserOf({}, "alice@EXAMPLE.COM"), "alice@EXAMPLE.COM");
}

TEST(UserRulesTest, TheFirstRuleThatMatchesTheWholeNameDecides) {
  const UserRules rules = Rules(
      "# users of the example\n"
      "\n"
      "CN=([a-z]+),O=Example \\1\r\n"
      "\tspiffe://example/ns/([a-z]+)/sa/([a-z]+)   \\1-\\2\n"
      "spiffe://example/.* rest\n"
      "alice bob");
  EXPECT_EQ(UserOf(rules, "CN=eve,O=Example"), "eve");
  EXPECT_EQ(UserOf(rules, "spiffe://example/ns/web/sa/shop"), "web-shop");
  EXPECT_EQ(UserOf(rules, "spiffe://example/other"), "rest");
  EXPECT_EQ(UserOf(rules, "alice"), "bob");
}

TEST(UserRulesTest, ANameThatNoRuleMatchesHasNoUser) {
  const UserRules rules = Rules("CN=([a-z]+) \\1\n");
  for (const char* name : {"CN=eve,O=Example", "xCN=eve", "CN=", "CN=Eve", "cn=eve", "CN=eve\x7f"})
    EXPECT_TRUE(Refused(rules, name)) << name;
  EXPECT_EQ(UserOf(rules, "eve"), "refused: the name 'eve' matches no rule of --tls-user-rules");
  EXPECT_TRUE(Refused(Rules("# no rule at all\n"), "eve"));
}

TEST(UserRulesTest, NamesWithAMeaningElsewhereHaveNoUser) {
  for (const std::string& name : {""s, "@admins"s, "bob,f"s, "bob\nroot"s, "root\0"s, "ro\0ot"s, "\x1b[31mroot"s,
                                  "a\x7f"s, "\xff\xfe"s, std::string(kMostNameBytes + 1, 'a'), std::string(256, 'a')})
    EXPECT_TRUE(Refused({}, name)) << name.substr(0, 20);
  const UserRules rules = Rules("(.*) \\1\n");
  for (const std::string& name : {""s, "@admins"s, "bob,f"s, "bob\nroot"s, "root\0"s})
    EXPECT_TRUE(Refused(rules, name)) << name;
  EXPECT_TRUE(Refused(Rules("(.*) @\\1\n"), "admins")) << "a rule may not make a group";
}

TEST(UserRulesTest, AFileThatCannotBeUsedNamesItsLine) {
  EXPECT_EQ(WhyBad("a b\nc\n"), "line 2: it must have a pattern and a replacement, separated by spaces");
  EXPECT_EQ(WhyBad("a b c\n"), "line 1: it must have a pattern and a replacement, separated by spaces");
  EXPECT_NE(WhyBad("(a b\n").find("line 1: '(a'"), std::string::npos) << WhyBad("(a b\n");
  EXPECT_NE(WhyBad("a \\1\n").find("line 1"), std::string::npos) << WhyBad("a \\1\n");
  EXPECT_NE(WhyBad("(((a{100}){100}){100}) b\n"), "");
  EXPECT_NE(WhyBad("a b\0\n"s), "");
  EXPECT_NE(WhyBad("a \xff\n"), "");
  EXPECT_NE(WhyBad(std::string(kMostRuleFileBytes + 1, '#')), "");
  std::string many;
  for (std::size_t i = 0; i <= kMostRules; ++i) many += "a b\n";
  EXPECT_NE(WhyBad(many), "");
}

// Any name: a user is one to whom a right may be given, and never a group.
TEST(UserRulesTest, RandomNamesGiveUsersThatRightsKnow) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng random(seed);
  const UserRules rules = Rules("([^/]*)/(.*) \\2\\1\n(.*) \\1");
  const std::string letters = "ab/@,\n\0\x1b\x7f\xc3\xa9\xff =\\1"s;
  int users = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (std::size_t left = random.Below(12); left > 0; --left)
      name += random.Below(4) == 0 ? letters[random.Below(letters.size())] : static_cast<char>('a' + random.Below(26));
    for (const UserRules& by : {UserRules(), rules}) {
      const auto user = by.UserOf(name);
      if (!user.ok()) continue;
      ++users;
      EXPECT_TRUE(rights::CheckGrantee(*user).ok());
      EXPECT_NE(user->front(), '@');
    }
  }
  EXPECT_GT(users, 1'000);
}

}  // namespace
}  // namespace ratchet::identity
