// S71 (ask servers for unplaced regions): a region whose row in hbase:meta names no server, though its state needs one,
// has no place until the servers have reported their regions.
#include <gmock/gmock.h>

#include "common/base/mutant.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class UnplacedTest : public MasterTest {
 protected:
  Reconciler& reconciler() { return master().logic().reconciler; }
  RegionRow& Row(const std::string& encoded) { return cluster_.meta().mutable_regions().at(encoded); }
  void Beat(sim::SimServer& server) {
    std::vector<OnlineRegion> online;
    for (const auto& [encoded, region] : server.regions()) online.push_back({encoded, region.open_number});
    reconciler().OnHeartbeat(server.name(), online);
  }
  void GraceEnds() { ASSERT_TRUE(cluster_.RunFor(cluster_.master_options.reconciler.grace + Millis(100))); }
  void ExpectFinding(const std::string& encoded, const std::string& what) {
    for (const ReconcilerFinding& finding : reconciler().Findings()) {
      if (finding.encoded == encoded && finding.what.find(what) != std::string::npos) return;
    }
    ADD_FAILURE() << "nothing was reported about " << encoded << ": " << what;
  }
};

// Its row names no server when a new master reads it.
TEST_F(UnplacedTest, ARegionWithoutAServerIsTakenFromTheOneThatHasIt) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  for (const RegionState state : {RegionState::kOpen, RegionState::kOpening, RegionState::kClosing}) {
    SCOPED_TRACE(RegionStateText(state));
    sim::SimServer& host = HostOf(encoded);
    cluster_.KillMaster();
    Row(encoded).state = state;
    Row(encoded).location = std::nullopt;
    Row(encoded).target = std::nullopt;
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.Settle());
    GraceEnds();
    reconciler().Sweep();
    ASSERT_TRUE(cluster_.Settle());
    EXPECT_EQ(Regions("t")[0].state, RegionState::kAbnormallyClosed) << "nobody has said yet that it has it";
    EXPECT_EQ(reconciler().Problems().size(), 1U);
    EXPECT_FALSE(Assign(encoded).ok());
    for (sim::SimServer* server : cluster_.Alive()) Beat(*server);
    ExpectFinding(encoded, "is open there");
    EXPECT_EQ(Regions("t")[0].location, host.name());
    EXPECT_TRUE(reconciler().Problems().empty());
    for (int i = 0; i < 2; ++i) {
      GraceEnds();
      reconciler().CompareWithMeta([](const Status&) {});
      ASSERT_TRUE(cluster_.RunFor(Millis(50)));
    }
    ExpectServed("t", 1);
  }
}

// Bytes of hbase:meta: no procedure can lead out of such a state, and no such row may end the master.
TEST_F(UnplacedTest, ARowInAStateThatNothingLeavesEndsNoMaster) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  for (const RegionState state :
       {RegionState::kSplit, RegionState::kMerged, RegionState::kFailedClose, RegionState::kSplitting}) {
    SCOPED_TRACE(RegionStateText(state));
    cluster_.KillMaster();
    Row(encoded).state = state;
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.RunUntil([&] { return !Regions("t").empty(); }));
    static_cast<void>(Assign(encoded));
    GraceEnds();
    reconciler().Sweep();
    ASSERT_TRUE(cluster_.RunFor(Millis(5'000)));
    EXPECT_TRUE(Create("beside" + std::to_string(static_cast<int>(state)), 1).ok()) << "the others continue";
  }
}

TEST_F(UnplacedTest, ARegionWithoutAServerThatNoneHasIsAssigned) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  (void)Unassign(encoded);
  ASSERT_TRUE(cluster_.Settle());
  cluster_.KillMaster();
  Row(encoded).state = RegionState::kOpen;
  Row(encoded).location = std::nullopt;
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  GraceEnds();
  Beat(*cluster_.Alive()[0]);
  reconciler().Sweep();
  EXPECT_TRUE(reconciler().Findings().empty()) << "one server has not said anything yet";
  Beat(*cluster_.Alive()[1]);
  reconciler().Sweep();
  ExpectFinding(encoded, "assigned");
  ExpectServed("t", 1);
}

#if defined(RATCHET_MUTANTS)
TEST_F(UnplacedTest, AssigningTheUnplacedAtOnceIsNoticed) {
  const ScopedMutant mutant("reconciler.assign_unplaced");
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  const ServerName host = HostOf(encoded).name();
  cluster_.KillMaster();
  Row(encoded).location = std::nullopt;
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  master().logic().servers.SetDraining(host, true);
  GraceEnds();
  reconciler().Sweep();
  ASSERT_TRUE(cluster_.RunFor(Millis(2'000)));
  EXPECT_THAT(cluster_.CheckSettled(), ::testing::HasSubstr("is at 2 servers"))
      << "it is open twice, or has lost a write";
}
#endif

}  // namespace
}  // namespace ratchet::master
