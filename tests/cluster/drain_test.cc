// A server is drained under writes while the master dies, gets no region until it is undrained, and is stopped by the
// drain.
#include <set>

#include "common/client/drain.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class DrainTest : public ClusterTest {
 protected:
  std::vector<std::string> RegionsOn(const ServerName& server) {
    std::vector<std::string> regions;
    const auto answer = admin().Call(methods::kListRegions, pb::ListRegionsRequest());
    EXPECT_TRUE(answer.ok()) << answer.error().ToString();
    if (!answer.ok()) return regions;
    for (const auto& row : answer->region()) {
      if (!row.has_server()) continue;
      const auto at = FromProto(row.server());
      if (at.ok() && *at == server) regions.push_back(row.encoded_name());
    }
    return regions;
  }
  Result<std::uint64_t> Drain(const ServerName& server, bool and_stop = false) {
    client::Admin asks = admin();
    return client::Drain(asks, server, and_stop);
  }
  Result<std::uint64_t> Undrain(const ServerName& server, const std::vector<std::string>& regions = {}) {
    client::Admin asks = admin();
    return client::Undrain(asks, server, regions);
  }
};

TEST_F(DrainTest, ADrainUnderWritesOutlivesItsMaster) {
  Boot(2, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 24);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(100);
  const auto holder = cluster().MetaHolder();  // the hardest case, because hbase:meta must move too
  ASSERT_OK(holder);
  const ServerName drained = ServerNameOf(*holder);
  const std::vector<std::string> before = RegionsOn(drained);
  ASSERT_GT(before.size(), 1U);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const auto pid = Drain(drained);
  ASSERT_OK(pid);
  ASSERT_OK(cluster().Kill9(*active));
  const auto ended = admin().Wait(*pid);
  ASSERT_OK(ended);
  ASSERT_FALSE(ended->error.has_value()) << ended->error->ToString();
  EXPECT_EQ(ended->result.find("drained: "), 0U) << ended->result;
  EXPECT_TRUE(RegionsOn(drained).empty());
  client::Admin asks = admin();
  const auto marked = client::Drained(asks);
  ASSERT_OK(marked);
  EXPECT_EQ(*marked, std::vector<ServerName>{drained});
  WaitForWrites(100);
  MakeTable("u", 12);
  EXPECT_TRUE(RegionsOn(drained).empty()) << "it is decommissioned";

  // The mark belongs to the address: it applies to the next server and under the next master.
  ASSERT_OK(cluster().Restart(*holder));
  ASSERT_OK(cluster().Start(*active));
  ASSERT_OK(cluster().WaitServing(kPatience));
  const ServerName next = ServerNameOf(*holder);
  ASSERT_NE(next, drained);
  MakeTable("v", 12);
  EXPECT_TRUE(RegionsOn(next).empty()) << "the server at its address is decommissioned";
  ASSERT_OK(admin().WaitOk(Undrain(next, before)));
  const std::vector<std::string> after = RegionsOn(next);
  EXPECT_EQ(std::set<std::string>(after.begin(), after.end()), std::set<std::string>(before.begin(), before.end()));
  WaitForWrites(100);
}

TEST_F(DrainTest, ADrainedServerStopsAndTheLastOneIsNotDrained) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 8);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  const ServerName one = ServerNameOf("rs-1");
  const ServerName two = ServerNameOf("rs-2");
  const std::uint64_t from = cluster().LogSize("master-1");
  ASSERT_OK(admin().WaitOk(Drain(one, /*and_stop=*/true)));
  const auto code = cluster().WaitExit("rs-1", kPatience);
  ASSERT_OK(code);
  EXPECT_EQ(*code, 0);
  EXPECT_TRUE(cluster().LogLines("master-1", "SplitWal", from).empty()) << "it had nothing left to recover";
  const auto last = Drain(two);
  ASSERT_FALSE(last.ok());
  EXPECT_NE(last.error().message().find("is the last one that can have regions"), std::string::npos);
  WaitForWrites(50);
  ASSERT_OK(cluster().Start("rs-1"));
  ASSERT_OK(cluster().WaitServing(kPatience));
  EXPECT_TRUE(RegionsOn(ServerNameOf("rs-1")).empty());
  ASSERT_OK(admin().WaitOk(Undrain(one)));
}

}  // namespace
}  // namespace ratchet::chaos
