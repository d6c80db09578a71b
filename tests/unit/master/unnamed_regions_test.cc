// S171 (seal makes an index): regions that no log of a dead server names open before the logs are split.
#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class UnnamedRegionsTest : public MasterTest {
 protected:
  // One server has the regions of a table, and its log names the first half of them. All others refuse to split it.
  void GivenAServerWithQuietRegions() {
    cluster_.Boot(3);
    const auto pid = Create("t", 12);
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    ASSERT_EQ(Outcome(pid), "success");
    sim::SimServer& victim = OtherThan(MetaHost());
    victim_ = victim.name();
    for (const auto& [encoded, region] : victim.regions()) {
      std::vector<std::string>& regions = named_.size() <= quiet_.size() ? named_ : quiet_;
      regions.push_back(encoded);
      if (&regions == &named_) victim.Write(encoded);
    }
    ASSERT_GE(quiet_.size(), 1U);
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = kForever;
  }
  void KillIt() { cluster_.Kill(*cluster_.Find(victim_)); }
  void LetThemSplit() {
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 0;
  }
  std::size_t OpenOf(const std::vector<std::string>& regions) {
    std::size_t open = 0;
    for (const std::string& encoded : regions)
      for (sim::SimServer* server : cluster_.Alive()) open += server->IsOpen(encoded) ? 1 : 0;
    return open;
  }
  bool AreQuietOnesOpen() {
    return cluster_.RunUntil([this] { return OpenOf(quiet_) == quiet_.size(); }, Millis(30'000));
  }
  std::string Wrong() {
    if (!cluster_.Settle(Millis(20'000))) return "not at rest:\n" + master().Unfinished();
    return cluster_.CheckSettled();
  }
  // Its log is split late, and it is unknown what it names.
  std::string AServerDiesWithoutAnIndex() {
    GivenAServerWithQuietRegions();
    cluster_.storage().logs.at(victim_).unindexed = true;
    KillIt();
    EXPECT_TRUE(cluster_.RunFor(Millis(1'000)));
    const std::size_t open = OpenOf(quiet_) + OpenOf(named_);
    LetThemSplit();
    const std::string wrong = Wrong();
    return wrong.empty() && open > 0 ? "open before the split" : wrong;
  }

  static constexpr std::uint32_t kForever = 1'000'000;
  ServerName victim_;
  std::vector<std::string> named_;
  std::vector<std::string> quiet_;
};

TEST_F(UnnamedRegionsTest, OpenWhileTheSplitCannotEnd) {
  GivenAServerWithQuietRegions();
  KillIt();
  EXPECT_TRUE(AreQuietOnesOpen());
  ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  EXPECT_EQ(OpenOf(named_), 0U);
  EXPECT_FALSE(master().executor().FindUnfinished("SplitWal").empty());
  cluster_.WriteEverywhere();
  LetThemSplit();
  ExpectSettled();
  EXPECT_EQ(OpenOf(named_), named_.size());
}

TEST_F(UnnamedRegionsTest, ANewMasterKnowsThemToo) {
  GivenAServerWithQuietRegions();
  // No server takes a region, so no transition of one has ended when the master dies.
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = kForever;
  KillIt();
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("SplitWal").empty(); }));
  ASSERT_TRUE(cluster_.RunFor(Millis(100)));
  EXPECT_EQ(OpenOf(quiet_), 0U);
  cluster_.KillMaster();
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 0;
  cluster_.StartMaster();
  EXPECT_TRUE(AreQuietOnesOpen()) << master().Unfinished();
  EXPECT_EQ(master().logic().servers.SettlementOf(victim_, quiet_.front()), SettlementState::kSettled);
  EXPECT_EQ(master().logic().servers.SettlementOf(victim_, named_.front()), SettlementState::kAwait);
  EXPECT_EQ(master().logic().servers.SettlementOf(victim_, {}), SettlementState::kAwait);
  ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  EXPECT_EQ(OpenOf(named_), 0U);
  LetThemSplit();
  ExpectSettled();
  EXPECT_EQ(OpenOf(named_), named_.size());
}

// Moves that have begun, with orders to the dead server.
TEST_F(UnnamedRegionsTest, TransitionsOfThemGoOn) {
  GivenAServerWithQuietRegions();
  cluster_.Find(victim_)->order_time = Millis(60'000);
  (void)Move(quiet_.front());
  (void)Move(named_.front());
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("CloseRegion").size() == 2; }));
  KillIt();
  EXPECT_TRUE(AreQuietOnesOpen());
  ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  EXPECT_EQ(OpenOf(named_), 0U);
  EXPECT_EQ(master().executor().FindUnfinished("CloseRegion").size(), 1U);
  LetThemSplit();
  ExpectSettled();
}

// A table that is being disabled keeps the locks of all its regions until the log is split.
TEST_F(UnnamedRegionsTest, RegionsThatALogNamesDoNotWaitForThem) {
  GivenAServerWithQuietRegions();
  KillIt();
  (void)Disable("t");
  ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  LetThemSplit();
  ExpectSettled();
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
}

TEST_F(UnnamedRegionsTest, WithoutAnIndexAllWait) { EXPECT_EQ(AServerDiesWithoutAnIndex(), ""); }

// All regions return to the server at their address, also those that no log names.
TEST_F(UnnamedRegionsTest, ARestartOfTheClusterOpensNoneEarly) {
  GivenAServerWithQuietRegions();
  AllProcessesDie();
  cluster_.StartMaster();
  cluster_.AddServer("another");
  ASSERT_TRUE(cluster_.RunFor(Millis(1'000)));
  ASSERT_TRUE(master().logic().ready());
  ASSERT_TRUE(master().logic().servers.FoundNoneOnline());
  EXPECT_EQ(OpenOf(quiet_), 0U) << "the server that had them may come back";
  ASSERT_TRUE(cluster_.RunFor(Millis(6'000)));
  ExpectSettled();
  EXPECT_EQ(OpenOf(quiet_), quiet_.size());
}

#if defined(RATCHET_MUTANTS)
TEST_F(UnnamedRegionsTest, TakingNoIndexForAnEmptyOneIsCaught) {
  ExpectKilled(
      "seal.index_forgotten", [&] { return AServerDiesWithoutAnIndex(); }, "acknowledged is");
}
#endif

}  // namespace
}  // namespace ratchet::master
