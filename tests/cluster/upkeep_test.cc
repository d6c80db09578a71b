// Automatic work and stored settings of the master on real processes: the balancer, splits by size, switches and
// namespaces.
#include <map>

#include "common/base/prng.h"
#include "common/client/namespaces.h"
#include "common/client/table.h"
#include "common/model/codec.h"
#include "common/rpc/methods/master_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class UpkeepTest : public ClusterTest {
 protected:
  std::map<ServerName, std::size_t> CountByServer(const std::string& table) {
    std::map<ServerName, std::size_t> counts;
    const auto regions = admin().Regions(TableName("default", table));
    EXPECT_TRUE(regions.ok()) << regions.error().ToString();
    if (!regions.ok()) return counts;
    for (const auto& region : *regions) ++counts[region.server];
    return counts;
  }
  Result<bool> SplitsAreOn() {
    hbase::pb::IsSplitOrMergeEnabledRequest request;
    request.set_switch_type(hbase::pb::SPLIT);
    RATCHET_ASSIGN(const auto answer, (admin().Call(methods::kIsSplitOrMergeEnabled, request)));
    return answer.enabled();
  }
};

TEST_F(UpkeepTest, AServerThatComesGetsItsShareUnderWrites) {
  ClusterSpec spec;
  spec.master_flags = {"--balancer-period-ms", "300000"};
  Boot(2, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 24);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(100);
  const auto added = cluster().AddServer();
  ASSERT_OK(added);
  ASSERT_OK(cluster().WaitServing(kPatience));
  const ServerName server = ServerNameOf(*added);
  ASSERT_OK(WaitUntil("it has its share", kPatience, [&] { return CountByServer("t")[server] >= 6; }));
  WaitForWrites(100);
}

TEST_F(UpkeepTest, WhatHasGrownIsSplitWithoutLosingARow) {
  ClusterSpec spec;
  spec.master_flags = {"--auto-split-interval-ms", "500", "--region-max-file-bytes", "1MiB"};
  Boot(2, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(100);
  TableDescriptor big;
  big.name = TableName("default", "big");
  big.families.push_back(DefaultFamily("f"));
  ASSERT_OK(admin().WaitOk(admin().CreateTable(big, {})));
  client::Table table(connection(), big.name);
  constexpr int kUpkeepRows = 300;
  Prng prng(1);  // store files are compressed, so repeated data would take no space
  for (int i = 0; i < kUpkeepRows; ++i) {
    client::Mutation put = client::Mutation::Put(fmt::format("row{:05}", i));
    std::string value(16'384, '\0');
    for (char& c : value) c = static_cast<char>(prng.Below(256));
    put.Set("f", "q", value);
    ASSERT_OK(table.Mutate(put));
  }
  ASSERT_OK(admin().WaitOk(admin().FlushTable(big.name)));
  ASSERT_OK(WaitUntil("it is split more than once", kPatience, [&] {
    const auto regions = admin().Regions(big.name);
    return regions.ok() && regions->size() >= 3;
  }));
  // With the switch off, the number of regions stays the same after running splits have ended.
  hbase::pb::SetSplitOrMergeEnabledRequest off;
  off.set_enabled(false);
  off.set_synchronous(true);
  off.add_switch_types(hbase::pb::SPLIT);
  ASSERT_OK(admin().Call(methods::kSetSplitOrMergeEnabled, off));
  ASSERT_OK(cluster().WaitServing(kPatience));
  int rows = 0;
  auto scanner = table.Scan({});
  for (auto row = scanner.Next(); row.ok() && row->has_value(); row = scanner.Next()) ++rows;
  EXPECT_EQ(rows, kUpkeepRows);
}

TEST_F(UpkeepTest, SwitchesAndNamespacesOutliveTheMaster) {
  Boot(2, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(100);
  client::Admin asks = admin();
  const NamespaceDescriptor sales{"sales", {{std::string(kMaxTablesProperty), "1"}}};
  ASSERT_OK(asks.WaitOk(client::CreateNamespace(asks, sales)));
  hbase::pb::SetSplitOrMergeEnabledRequest off;
  off.set_enabled(false);
  off.add_switch_types(hbase::pb::SPLIT);
  ASSERT_OK(admin().Call(methods::kSetSplitOrMergeEnabled, off));
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
  const auto known = client::DescribeNamespace(asks, "sales");
  ASSERT_OK(known);
  EXPECT_EQ(*known, sales);
  const auto on = SplitsAreOn();
  ASSERT_OK(on);
  EXPECT_FALSE(*on);
  TableDescriptor orders;
  orders.name = TableName("sales", "orders");
  orders.families.push_back(DefaultFamily("f"));
  ASSERT_OK(admin().WaitOk(admin().CreateTable(orders, {})));
  orders.name.qualifier = "more";
  const Status refused = admin().WaitOk(admin().CreateTable(orders, {}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote_class(), "org.apache.hadoop.hbase.quotas.QuotaExceededException");
  ASSERT_OK(cluster().Start(*active));
}

}  // namespace
}  // namespace ratchet::chaos
