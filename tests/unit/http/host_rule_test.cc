#include "common/http/host_rule.h"

#include <gtest/gtest.h>

namespace ratchet::http {
namespace {

TEST(HostRuleTest, AddressesAndLocalhostNeedNoEntry) {
  const HostRule rule;
  for (const auto* field :
       {"", "localhost", "LOCALHOST:80", "localhost.", "127.0.0.1", "10.1.2.3:16010", "[::1]", "[fe80::1]:16010"})
    EXPECT_TRUE(rule.Allows(field)) << field;
}

TEST(HostRuleTest, NamesAreComparedWithoutCaseAndPort) {
  const HostRule rule({"Node-1.Cluster.Example", "short"});
  for (const auto* field : {"node-1.cluster.example", "NODE-1.CLUSTER.EXAMPLE.:16010", "short:1", "short."})
    EXPECT_TRUE(rule.Allows(field)) << field;
  for (const auto* field : {"node-1.cluster.example.evil.org", "evil.org", "node-1", "localhost.evil.org",
                            "127.0.0.1.evil.org", "[::1", "[localhost", ":80", "sho rt", "[evil.org]:80"})
    EXPECT_FALSE(rule.Allows(field)) << field;
}

TEST(HostRuleTest, AStarAllowsEveryName) { EXPECT_TRUE(HostRule({"*"}).Allows("any.example:1")); }

}  // namespace
}  // namespace ratchet::http
