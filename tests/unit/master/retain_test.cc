// After a restart of the whole cluster, regions return to their servers.
#include <map>
#include <set>

#include "master/cluster/membership.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class RetainTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.Boot(3);
    GivenTable("t", 9);
    for (const RegionNode& node : Regions("t")) hosts_[node.encoded] = node.location->host;
  }
  // All processes die, and a master is back before any server.
  void RestartWithoutServers() {
    AllProcessesDie();
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.RunFor(Millis(100)));
  }
  std::size_t BackWhereTheyWere() {
    std::size_t back = 0;
    for (const RegionNode& node : Regions("t")) back += node.location && node.location->host == hosts_[node.encoded];
    return back;
  }
  std::map<std::string, std::string> hosts_;  // by region
};

TEST_F(RetainTest, RegionsGoBackToServersThatComeOneAfterTheOther) {
  std::set<std::string> names;
  for (const auto& [region, host] : hosts_) names.insert(host);
  ASSERT_EQ(names.size(), 3U);
  RestartWithoutServers();
  EXPECT_TRUE(master().logic().servers.FoundNoneOnline());
  for (const std::string& host : names) {
    cluster_.AddServer(host);
    ASSERT_TRUE(cluster_.RunFor(Millis(500)));
  }
  ExpectServed("t", 9);
  EXPECT_EQ(BackWhereTheyWere(), 9U);
}

TEST_F(RetainTest, OneThatDoesNotComeBackIsNotWaitedForForLong) {
  RestartWithoutServers();
  sim::SimServer& another = cluster_.AddServer("another");
  ASSERT_TRUE(cluster_.RunFor(Millis(500)));
  for (const RegionNode& node : Regions("t"))
    EXPECT_FALSE(another.IsOpen(node.encoded)) << "the server that had it may come back";
  ASSERT_TRUE(cluster_.RunFor(Millis(5'000)));
  ExpectServed("t", 9);
}

TEST_F(RetainTest, AServerThatDiesAloneIsNotWaitedFor) {
  cluster_.KillMaster();
  cluster_.StartMaster();
  ExpectSettled();
  EXPECT_FALSE(master().logic().servers.FoundNoneOnline()) << "the servers have lived on";
}

}  // namespace
}  // namespace ratchet::master
