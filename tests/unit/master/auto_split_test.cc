// Splits by size: the policies, and the master's reaction to a server's report.
#include "common/base/prng.h"
#include "master/chores/auto_splitter.h"
#include "master/policy/split_policy.h"
#include "master/requests/switch_admin.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr const char* kPackage = "org.apache.hadoop.hbase.regionserver.";

TableDescriptor PolicyTable(Attributes attributes, Attributes configuration = {}) {
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.attributes = std::move(attributes);
  table.configuration = std::move(configuration);
  return table;
}
Attributes Policy(const std::string& name) { return {{"SPLIT_POLICY", kPackage + name}}; }

TEST(SplitPolicyTest, SizesFollowThePolicy) {
  SplitPolicyOptions options;
  options.max_bytes = 1000 * kMiB;
  options.flush_bytes = 10 * kMiB;
  const auto size = [&](const TableDescriptor& table, std::size_t n) { return SplitSize(table, options, n); };
  for (const std::size_t n : {1, 2, 50}) {
    EXPECT_EQ(size(PolicyTable(Policy("ConstantSizeRegionSplitPolicy")), n), 1000 * kMiB);
    for (const char* never :
         {"DisabledRegionSplitPolicy", "KeyPrefixRegionSplitPolicy", "DelimitedKeyPrefixRegionSplitPolicy"})
      EXPECT_EQ(size(PolicyTable(Policy(never)), n), std::nullopt) << never;
    EXPECT_EQ(size(PolicyTable(Policy("SteppingSplitPolicy")), n), (n == 1 ? 20 : 1000) * kMiB);
    EXPECT_EQ(size(PolicyTable({}), n), (n == 1 ? 20 : 1000) * kMiB) << "the default";
  }
  const TableDescriptor increasing = PolicyTable(Policy("IncreasingToUpperBoundRegionSplitPolicy"));
  EXPECT_EQ(size(increasing, 1), 20 * kMiB);
  EXPECT_EQ(size(increasing, 2), 160 * kMiB);
  EXPECT_EQ(size(increasing, 3), 540 * kMiB);
  EXPECT_EQ(size(increasing, 4), 1000 * kMiB) << "1,280 is above the largest size";
  EXPECT_EQ(size(increasing, 1'000'000'000'000), 1000 * kMiB) << "no overflow";
}

TEST(SplitPolicyTest, TableSettingOverridesThePolicy) {
  SplitPolicyOptions options;
  Attributes constant = Policy("ConstantSizeRegionSplitPolicy");
  constant["MAX_FILESIZE"] = "5000";
  EXPECT_EQ(SplitSize(PolicyTable(constant), options, 1), 5000U);
  for (const char* none : {"0", "-1", "many", ""}) {
    constant["MAX_FILESIZE"] = none;
    EXPECT_EQ(SplitSize(PolicyTable(constant), options, 1), options.max_bytes) << none;
  }
  Attributes increasing = Policy("IncreasingToUpperBoundRegionSplitPolicy");
  increasing["MEMSTORE_FLUSHSIZE"] = "1000";
  EXPECT_EQ(SplitSize(PolicyTable(increasing), options, 2), 16'000U);
  EXPECT_EQ(SplitSize(PolicyTable(increasing, {{"hbase.increasing.policy.initial.size", "7"}}), options, 2), 56U);
  EXPECT_EQ(
      SplitSize(PolicyTable({}, {{"hbase.regionserver.region.split.policy", "DisabledRegionSplitPolicy"}}), options, 1),
      std::nullopt);
  options.policy = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy";
  EXPECT_EQ(SplitSize(PolicyTable({}), options, 1), std::nullopt);
  EXPECT_EQ(SplitSize(PolicyTable(Policy("MyOwnPolicy")), options, 1), std::nullopt) << "the default";
  EXPECT_TRUE(KnownSplitPolicy("MyOwnPolicy").empty());
}

TEST(SplitPolicyTest, MoreRegionsNeverMakeTheSizeSmaller) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Prng prng(seed);
  for (const char* policy : {"ConstantSizeRegionSplitPolicy", "IncreasingToUpperBoundRegionSplitPolicy",
                             "SteppingSplitPolicy", "BusyRegionSplitPolicy"}) {
    for (int round = 0; round < 100; ++round) {
      SplitPolicyOptions options;
      options.max_bytes = 1 + prng.Below(1ULL << 40);
      options.initial_bytes = 1 + prng.Below(1ULL << 40);
      std::uint64_t before = 0;
      for (std::size_t n = 1; n < 2'000; n += 1 + prng.Below(100)) {
        const std::uint64_t size = SplitSize(PolicyTable(Policy(policy)), options, n).value();
        EXPECT_GE(size, before) << policy << " " << n;
        EXPECT_LE(size, options.max_bytes) << policy << " " << n;
        before = size;
      }
    }
  }
}

class AutoSplitTest : public ReshapeTest {
 protected:
  void SetUp() override {
    cluster_.Boot(2);
    options_.policy.policy = "ConstantSizeRegionSplitPolicy";
    options_.policy.max_bytes = 100;
  }
  AutoSplitter& splitter() {
    if (splitter_ == nullptr) splitter_ = std::make_unique<AutoSplitter>(master().logic().env, admin(), options_);
    return *splitter_;
  }
  // Each server reports this size for each of its regions.
  std::size_t Report(std::uint64_t bytes) {
    std::size_t asked = 0;
    for (sim::SimServer* server : cluster_.Alive()) {
      std::vector<AutoSplitter::Size> sizes;
      for (const auto& [encoded, region] : server->regions()) sizes.push_back({encoded, bytes});
      asked += splitter().Look(server->name(), std::move(sizes));
    }
    return asked;
  }
  AutoSplitOptions options_;

 private:
  std::unique_ptr<AutoSplitter> splitter_;
};

TEST_F(AutoSplitTest, LargeRegionIsSplitAndSmallIsNot) {
  GivenTable("t", 1);
  EXPECT_EQ(Report(100), 0U) << "not above";
  EXPECT_EQ(Report(101), 1U);
  EXPECT_EQ(Report(101), 0U) << "it is being split";
  ExpectLive(2);
  EXPECT_EQ(Report(50), 0U);
}

TEST_F(AutoSplitTest, OnlyAFewAtATime) {
  options_.at_once = 2;
  GivenTable("t", 6);
  EXPECT_EQ(Report(200), 2U);
  EXPECT_EQ(Report(200), 0U);
  ExpectSettled();
  EXPECT_EQ(Report(200), 2U);
  ExpectSettled();
  EXPECT_GE(Live().size(), 9U) << "one of the six has no split key";
}

TEST_F(AutoSplitTest, SwitchTableAndCrashPreventASplit) {
  GivenTable("t", 1);
  master().logic().env.switches.Show(Switch::kSplit, "off");
  EXPECT_EQ(Report(200), 0U);
  master().logic().env.switches.Show(Switch::kSplit, "on");
  sim::SimServer& dies = OtherThan(HostOf(Encoded("t")));
  const ServerName name = dies.name();
  cluster_.Kill(dies);
  cluster_.SessionEnds(name, Millis(10));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("ServerCrash").empty(); }));
  EXPECT_EQ(Report(200), 0U);
  ExpectSettled();
  EXPECT_EQ(Report(200), 1U);
  ExpectLive(2);
}

// The first region of this table has no row where the server would split it.
TEST_F(AutoSplitTest, ARegionWhoseSplitFailedIsLeftAloneForAWhile) {
  options_.after_failure = Millis(60'000);
  GivenTable("t", 2);
  const std::string region = Encoded("t");
  const ServerName host = HostOf(region).name();
  EXPECT_EQ(splitter().Look(host, {{region, 200}}), 1U);
  ExpectLive(2);
  EXPECT_EQ(splitter().Look(host, {{region, 200}}), 0U);
  ASSERT_TRUE(cluster_.RunFor(Millis(61'000)));
  EXPECT_EQ(splitter().Look(host, {{region, 200}}), 1U);
  ExpectLive(2);
}

TEST_F(AutoSplitTest, AReportOfARegionThatIsElsewhereSplitsNothing) {
  GivenTable("t", 1);
  const sim::SimServer& other = OtherThan(HostOf(Encoded("t")));
  EXPECT_EQ(splitter().Look(other.name(),
                            {{Encoded("t"), 200}, {"no such region", 200}, {std::string(kMetaEncodedName), 200}}),
            0U);
}

TEST_F(AutoSplitTest, EachServerIsCheckedPeriodically) {
  options_.interval = Millis(5'000);
  const ServerName server = cluster_.Alive().front()->name();
  EXPECT_TRUE(splitter().IsDue(server));
  EXPECT_FALSE(splitter().IsDue(server));
  ASSERT_TRUE(cluster_.RunFor(Millis(5'100)));
  EXPECT_TRUE(splitter().IsDue(server));
}

}  // namespace
}  // namespace ratchet::master
