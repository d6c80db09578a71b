#include "common/identity/proxy_rules.h"

#include <gtest/gtest.h>

namespace ratchet::identity {
namespace {

ProxyRules ProxiesOf(const std::string& text) {
  auto rules = ProxyRules::Parse(text, /*groups_known=*/true);
  EXPECT_TRUE(rules.ok()) << rules.error().ToString();
  return rules.ok() ? *rules : ProxyRules();
}
std::string WhyBadProxies(const std::string& text, bool groups_known = true) {
  const auto rules = ProxyRules::Parse(text, groups_known);
  return rules.ok() ? std::string() : rules.error().message();
}
std::vector<std::string> GroupsInTest(const std::string& user) {
  return user == "carol" ? std::vector<std::string>{"staff"} : std::vector<std::string>();
}

TEST(ProxyRulesTest, WithoutRulesNoUserActsForAnother) {
  EXPECT_FALSE(ProxyRules().Allows("hue", "alice", "127.0.0.1", {}));
}

TEST(ProxyRulesTest, ARuleNamesUsersGroupsOrAll) {
  const ProxyRules rules = ProxiesOf("hue alice,bob\nknox @staff\nroot-of-all *\n");
  EXPECT_TRUE(rules.Allows("hue", "alice", "10.0.0.1", {}));
  EXPECT_TRUE(rules.Allows("hue", "bob", "10.0.0.1", {}));
  EXPECT_FALSE(rules.Allows("hue", "carol", "10.0.0.1", GroupsInTest));
  EXPECT_TRUE(rules.Allows("knox", "carol", "10.0.0.1", GroupsInTest));
  EXPECT_FALSE(rules.Allows("knox", "carol", "10.0.0.1", {}));
  EXPECT_FALSE(rules.Allows("knox", "staff", "10.0.0.1", GroupsInTest));
  EXPECT_TRUE(rules.Allows("root-of-all", "anybody-else", "10.0.0.1", {}));
  EXPECT_FALSE(rules.Allows("alice", "bob", "10.0.0.1", {}));
}

TEST(ProxyRulesTest, NoRuleAllowsNamesThatAreNotUsers) {
  const ProxyRules rules = ProxiesOf("hue *\n");
  for (const char* user : {"", "@staff", "bob,f", "bob\nroot"}) EXPECT_FALSE(rules.Allows("hue", user, "10.0.0.1", {}));
}

TEST(ProxyRulesTest, AddressesLimitARule) {
  const ProxyRules rules = ProxiesOf("hue * 10.1.0.0/16,192.168.7.3,fd00::/8\n");
  EXPECT_TRUE(rules.Allows("hue", "a", "10.1.255.3", {}));
  EXPECT_FALSE(rules.Allows("hue", "a", "10.2.0.3", {}));
  EXPECT_TRUE(rules.Allows("hue", "a", "192.168.7.3", {}));
  EXPECT_FALSE(rules.Allows("hue", "a", "192.168.7.2", {}));
  EXPECT_TRUE(rules.Allows("hue", "a", "fd12::1", {}));
  EXPECT_FALSE(rules.Allows("hue", "a", "fe80::1", {}));
  EXPECT_FALSE(rules.Allows("hue", "a", "a.name", {}));
  EXPECT_FALSE(rules.Allows("hue", "a", "", {}));
}

TEST(ProxyRulesTest, AFileThatCannotBeUsedNamesItsLine) {
  EXPECT_NE(WhyBadProxies("hue\n").find("line 1"), std::string::npos);
  EXPECT_NE(WhyBadProxies("\nhue a b c\n").find("line 2"), std::string::npos);
  EXPECT_EQ(WhyBadProxies("hue a gateway.example\n"), "line 1: 'gateway.example' is not an address or a network");
  for (const char* host : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "::/129", "/8", ","})
    EXPECT_NE(WhyBadProxies(std::string("hue a ") + host), "") << host;
  EXPECT_NE(WhyBadProxies("@ops a\n"), "");
  EXPECT_NE(WhyBadProxies("hue a,,b\n"), "");
  EXPECT_EQ(WhyBadProxies("hue @staff\n", /*groups_known=*/false), "line 1: @staff: this process knows no groups");
}

}  // namespace
}  // namespace ratchet::identity
