// Clients see splits and merges only as a pause (docs/lifecycle.md).
#include <fmt/format.h>

#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class ReshapeTest : public ClusterTest {
 protected:
  static constexpr int kRows = 600;
  const TableName table_{"default", "s"};

  static std::string RowAt(int i) { return fmt::format("row{:04}", i); }
  void GivenRows() {
    Boot(1, 2);
    if (HasFatalFailure()) return;
    MakeTable("s", 1);
    if (HasFatalFailure()) return;
    client::Table table(connection(), table_);
    for (int i = 0; i < kRows; ++i)
      ASSERT_OK(table.Mutate(client::Mutation::Put(RowAt(i)).Set("u", "v", fmt::format("{}", i))));
  }
  std::vector<RegionInfo> Regions() {
    std::vector<RegionInfo> regions;
    const auto located = admin().Regions(table_);
    EXPECT_TRUE(located.ok());
    if (!located.ok()) return regions;
    for (const auto& location : *located) regions.push_back(location.region);
    return regions;
  }
  void SplitAt(const std::string& row) {
    ASSERT_OK(admin().WaitOk(admin().SplitRegion(Regions().front(), row)));
    ASSERT_EQ(Regions().size(), 2U);
  }
  void Merge() {
    const std::vector<RegionInfo> regions = Regions();
    ASSERT_EQ(regions.size(), 2U);
    ASSERT_OK(admin().WaitOk(admin().MergeRegions({regions[0].encoded_name(), regions[1].encoded_name()})));
    ASSERT_EQ(Regions().size(), 1U);
  }
};

TEST_F(ReshapeTest, AScanThatIsOpenMeanwhileReturnsEachRowOnce) {
  GivenRows();
  if (HasFatalFailure()) return;
  client::Scan scan;
  scan.rows_per_call = 10;
  client::Scanner scanner(connection(), table_, scan);
  for (int i = 0; i < kRows; ++i) {
    if (i == 100) SplitAt(RowAt(400));
    if (i == 300) Merge();
    if (i == 450) SplitAt(RowAt(200));
    if (HasFatalFailure()) return;
    const auto row = scanner.Next();
    ASSERT_OK(row);
    ASSERT_TRUE(row->has_value()) << "at row " << i;
    ASSERT_EQ((*row)->key, RowAt(i));
  }
  const auto behind = scanner.Next();
  ASSERT_OK(behind);
  EXPECT_FALSE(behind->has_value());
}

TEST_F(ReshapeTest, WithoutAKeyTheRegionIsSplitInItsMiddleAndNoRowIsLostWithItsServer) {
  GivenRows();
  if (HasFatalFailure()) return;
  ASSERT_OK(admin().WaitOk(admin().SplitRegion(Regions().front(), "")));
  const std::vector<RegionInfo> regions = Regions();
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_GT(regions[1].start_key, RowAt(kRows / 4));
  EXPECT_LT(regions[1].start_key, RowAt(3 * kRows / 4));
  client::Table table(connection(), table_);
  ASSERT_OK(table.Mutate(client::Mutation::Put("row9999").Set("u", "v", "late")));
  const auto holder = cluster().MetaHolder();
  ASSERT_OK(holder);
  for (const std::string name : {"rs-1", "rs-2"}) {
    if (name == *holder) continue;
    ASSERT_OK(cluster().Kill9(name));
    ASSERT_OK(cluster().Start(name));
  }
  ASSERT_OK(cluster().WaitServing(kPatience));
  int rows = 0;
  client::Scanner scanner(connection(), table_, {});
  for (;; ++rows) {
    const auto row = scanner.Next();
    ASSERT_OK(row);
    if (!row->has_value()) break;
  }
  EXPECT_EQ(rows, kRows + 1);
}

}  // namespace
}  // namespace ratchet::chaos
