// The cost and the waits of a region server's upkeep. Counted, never timed.
#include <future>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "regionserver/host/region_directories.h"
#include "regionserver/orders/lane_pool.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

TEST(LanesCostTest, TheFlushOfMetaWaitsForNoOtherRegion) {
  class Recording final : public Lanes {
   public:
    void Run(Lane lane, std::function<void()> /*work*/) override { lanes.push_back(lane); }
    std::vector<Lane> lanes;
  };
  io::SimDisk sim;
  const auto disk = sim.NewProcess();
  const auto root = disk->OpenOrMake("/root").value();
  SystemClock clock;
  Recording lanes;
  RegionHost host(*root, clock, lanes, HostOptions(), [](int, const std::string&) {});
  host.flusher.Soon("0123456789abcdef0123456789abcdef");
  host.flusher.Soon(std::string(kMetaEncodedName));
  host.compactor.Soon("0123456789abcdef0123456789abcdef", /*major=*/false);
  host.compactor.Soon("0123456789abcdef0123456789abcdef", /*major=*/true);
  EXPECT_EQ(lanes.lanes, (std::vector<Lane>{Lane::kFlush, Lane::kMetaFlush, Lane::kSmallCompact, Lane::kLargeCompact}));
}

TEST(LanesCostTest, NoCompactionBeginsWhileTheyAreSwitchedOff) {
  class Keeping final : public Lanes {
   public:
    void Run(Lane /*lane*/, std::function<void()> work) override { works.push_back(std::move(work)); }
    std::vector<std::function<void()>> works;
  };
  io::SimDisk sim;
  const auto disk = sim.NewProcess();
  const auto root = disk->OpenOrMake("/root").value();
  SystemClock clock;
  Keeping lanes;
  RegionHost host(*root, clock, lanes, HostOptions(), [](int, const std::string&) {});
  EXPECT_TRUE(host.compactor.Switch(false));
  host.compactor.Soon("0123456789abcdef0123456789abcdef", /*major=*/true);
  EXPECT_TRUE(lanes.works.empty());
  EXPECT_FALSE(host.compactor.Switch(true));
  // A queued compaction leaves its place when compactions are switched off: it can be requested again.
  host.compactor.Soon("0123456789abcdef0123456789abcdef", /*major=*/true);
  ASSERT_EQ(lanes.works.size(), 1U);
  EXPECT_TRUE(host.compactor.Switch(false));
  lanes.works[0]();
  EXPECT_FALSE(host.compactor.Switch(true));
  host.compactor.Soon("0123456789abcdef0123456789abcdef", /*major=*/true);
  EXPECT_EQ(lanes.works.size(), 2U);
}

TEST(LanesCostTest, TwoFlushesRunSideBySideAndMetasBesideThem) {
  LanePool lanes{LaneThreads()};
  std::promise<void> let_go;
  const std::shared_future<void> gate = let_go.get_future().share();
  std::promise<void> entered[3];
  lanes.Run(Lane::kFlush, [&] { entered[0].set_value(), gate.wait(); });
  lanes.Run(Lane::kFlush, [&] { entered[1].set_value(), gate.wait(); });
  lanes.Run(Lane::kMetaFlush, [&] { entered[2].set_value(), gate.wait(); });
  for (auto& each : entered) EXPECT_EQ(each.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  let_go.set_value();
  lanes.Stop();
}

TEST(RegionSearchTest, TablesAreListedOnceForAllRegionsThatAreAskedFor) {
  io::SimDisk sim;
  const auto disk = sim.NewProcess();
  const auto root = disk->OpenOrMake("/root").value();
  constexpr int kTables = 3;
  for (int table = 0; table < kTables; ++table)
    for (int region = 0; region < 10; ++region)
      ASSERT_TRUE(
          disk->OpenOrMake(fmt::format("/root/data/default/t{}.{}/r{}-{}", table, table + 1, table, region)).ok());
  int listings = 0;
  bool unreadable = true;
  disk->SetHook([&](const io::SimEvent& event) {
    if (event.op == io::SimOp::kList) ++listings;
    const bool fails = unreadable && event.op == io::SimOp::kList && event.path.ends_with("t1.2");
    return fails ? io::SimVerdict::Fail(Code::kIo) : io::SimVerdict::Proceed();
  });
  RegionSearch search(*root);
  // The search must not report "gone" by mistake, because that would drop the edits of the region.
  EXPECT_EQ(search.TableOf("r2-1").error().code(), Code::kIo);
  EXPECT_EQ(search.TableOf("r9-1").error().code(), Code::kIo);
  unreadable = false;
  listings = 0;
  for (int table = 0; table < kTables; ++table)
    for (int region = 0; region < 10; ++region)
      EXPECT_EQ(search.TableOf(fmt::format("r{}-{}", table, region)).value(),
                fmt::format("default/t{}.{}", table, table + 1));
  EXPECT_EQ(search.TableOf("r9-1").error().code(), Code::kNotFound);
  EXPECT_EQ(listings, 1 + 1 + kTables);  // data, its namespace, each table
}

// A file among the directories has no region. A file instead of a table's directory does not prove that the table never
// had regions.
TEST(RegionSearchTest, StrayFilesStopNoSplit) {
  io::SimDisk sim;
  const auto disk = sim.NewProcess();
  const auto root = disk->OpenOrMake("/root").value();
  ASSERT_TRUE(disk->OpenOrMake("/root/data/default/t.1/r1").ok());
  ASSERT_TRUE(disk->OpenOrMake("/root/data").value()->Create("notes").ok());
  ASSERT_TRUE(disk->OpenOrMake("/root/data/default").value()->Create("notes.txt").ok());
  EXPECT_EQ(RegionSearch(*root).TableOf("r1").value(), "default/t.1");
  EXPECT_EQ(RegionSearch(*root).TableOf("r2").error().code(), Code::kNotFound);
  ASSERT_TRUE(disk->OpenOrMake("/root/data/default").value()->Create("t.2").ok());
  EXPECT_EQ(RegionSearch(*root).TableOf("r2").error().code(), Code::kFailedPrecondition);
}

class UpkeepCostTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    ServiceFixture::SetUp();
  }
  void TearDown() override {
    ServiceFixture::TearDown();
    ConfigureLog({});
  }
};

// With more log files than the maximum, the regions that keep the oldest one are flushed, and not all of them at once.
TEST_F(UpkeepCostTest, ALookAtTheLogsFlushesABoundedNumberOfRegions) {
  constexpr int kRegions = 300;
  constexpr std::size_t kRegionsALook = 256;
  std::vector<RegionInfo> regions;
  for (int i = 0; i < kRegions; ++i) regions.push_back(TableRegion(fmt::format("{:03}", i), fmt::format("{:03}x", i)));
  for (const RegionInfo& region : regions) {
    ASSERT_EQ(OpenRegion(region).outcome, OrderOutcome::kOpened);
    ASSERT_TRUE(Put(region, region.start_key, "q", "v").ok());
  }
  const auto fill_files = [&] {  // each is needed by at least one region
    for (int roll = 0; roll < 17; ++roll) {
      ASSERT_TRUE(host_->wals.Roll().ok());
      ASSERT_TRUE(Put(regions.back(), regions.back().start_key, "q", "v").ok());
    }
  };
  fill_files();
  const auto flushed = [&] {
    std::size_t count = 0;
    for (const auto& region : host_->regions.All()) count += region->GetStatus().store_files > 0 ? 1 : 0;
    return count;
  };
  EXPECT_EQ(flushed(), 0U);
  host_->wals.LookAfterLogs();
  EXPECT_EQ(flushed(), kRegionsALook);
  fill_files();
  host_->wals.LookAfterLogs();
  EXPECT_EQ(flushed(), static_cast<std::size_t>(kRegions));
}

}  // namespace
}  // namespace ratchet::regionserver
