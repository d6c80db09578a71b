// Commits of the procedure store, records in them, writes to hbase:meta, orders and reports of the master's operations:
// exact counts, compared with tests/costs/costs.json. The counts of several seeds must agree, so that they are counts
// of the logic and not of one order of events.
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "tests/costs/costs.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

constexpr int kRegions = 100;

class DurableCostsTest : public MasterTest, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    cluster_.prng() = Prng(GetParam());
    cluster_.whole_reports = true;
  }
  void TearDown() override { ConfigureLog({}); }
  Result<ProcId> CreateWide(int regions) {
    std::vector<std::string> keys;
    for (int i = 1; i < regions; ++i) keys.push_back(fmt::format("{:04}", i));
    return master().Ask([&](Done done) { admin().CreateTable(Descriptor("t"), keys, {"me", {}}, done); });
  }
  void GivenWideTable(int regions) {
    const auto pid = CreateWide(regions);
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    ASSERT_EQ(Outcome(pid), "success");
  }
  // Runs `act` until all work has ended, and compares what it has cost.
  void ExpectCosts(const std::string& operation, const std::function<void()>& act) {
    const sim::SimSent before = cluster_.sent;
    const std::uint64_t commits = cluster_.disk().CommitCount();
    const std::uint64_t records = cluster_.disk().WrittenCount();
    act();
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    EXPECT_EQ(cluster_.CheckSettled(), "");
    const sim::SimSent& after = cluster_.sent;
    costs::ExpectCounts("master." + operation, {{"commits", cluster_.disk().CommitCount() - commits},
                                                {"records", cluster_.disk().WrittenCount() - records},
                                                {"meta_writes", after.meta_writes - before.meta_writes},
                                                {"meta_rows", after.meta_rows - before.meta_rows},
                                                {"orders", after.orders - before.orders},
                                                {"reports", after.reports - before.reports}});
  }
  // Kills the server without hbase:meta, which has kRegions regions.
  void ExpectCrashCosts(const std::string& operation, bool written) {
    cluster_.Boot(2);
    GivenWideTable(2 * kRegions);
    if (written) cluster_.WriteEverywhere();
    sim::SimServer& victim = OtherThan(MetaHost());
    ASSERT_EQ(victim.regions().size(), static_cast<std::size_t>(kRegions));
    ExpectCosts(operation, [&] {
      cluster_.Kill(victim);
      ASSERT_TRUE(cluster_.RunFor(Millis(150)));
    });
  }
};

TEST_P(DurableCostsTest, OpenMoveAndSplitOneRegion) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  (void)Unassign(Encoded("t"));
  ASSERT_TRUE(cluster_.Settle());
  ExpectCosts("open_region", [this] { (void)Assign(Encoded("t")); });
  ExpectCosts("move_region", [this] { (void)Move(Encoded("t"), OtherThan(HostOf(Encoded("t"))).name()); });
  ExpectCosts("split_region", [this] {
    (void)master().Ask([this](Done done) { admin().SplitRegion(Encoded("t"), "m", {"me", {}}, done); });
  });
}

TEST_P(DurableCostsTest, CreateATableOfManyRegions) {
  cluster_.Boot(2);
  ExpectCosts("create_100_regions", [this] { (void)CreateWide(kRegions); });
}

TEST_P(DurableCostsTest, CrashOfAServerWithoutEdits) { ExpectCrashCosts("crash_100_regions", false); }
TEST_P(DurableCostsTest, CrashOfAServerWithEdits) { ExpectCrashCosts("crash_100_regions_with_edits", true); }

INSTANTIATE_TEST_SUITE_P(Seeds, DurableCostsTest, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace ratchet::master
