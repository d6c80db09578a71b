// Diff as a pure function of its snapshot, and repairs whose cause has gone since the snapshot. The golden transcripts
// (tests/golden/sweep_transcript_test.cc) show whole sweeps.
#include <fmt/format.h>

#include "master/repair/repair_runner.h"
#include "master/repair/sweep.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

struct TextOf {
  std::string operator()(const ReleaseSlot& slot) const { return fmt::format("release slot of {}", slot.holder); }
  std::string operator()(const ReleaseRegion& release) const { return "release " + release.node.encoded; }
  std::string operator()(const ExpireServer& expire) const { return "expire " + expire.server.host; }
  std::string operator()(const SubmitProcedure& submit) const {
    return fmt::format("{} for {}", submit.procedure->type_name(), submit.key);
  }
  std::string operator()(const ReadSchemas& unread) const { return fmt::format("read {}", unread.tables.size()); }
};

class SweepDiffTest : public ::testing::Test {
 protected:
  SweepDiffTest() {
    snapshot_.now = TimePoint(Millis(10'000));
    snapshot_.grace = Millis(1'000);
    snapshot_.meta_was_created = true;
    snapshot_.meta = Region(std::string(kMetaEncodedName), RegionState::kOpen);
    snapshot_.meta->info = MetaRegionInfo();
    snapshot_.servers[kServer] = {true, SettlementState::kServes, SettlementState::kServes};
    snapshot_.table_states[TableName("default", "t")] = TableState::kEnabled;
  }
  static RegionNode Region(const std::string& encoded, RegionState state) {
    RegionNode node;
    node.info.table = TableName("default", "t");
    node.encoded = encoded;
    node.state = state;
    node.location = kServer;
    return node;
  }
  std::string Repairs() const {
    std::string text;
    for (const Repair& repair : Diff(snapshot_)) text += (text.empty() ? "" : "; ") + std::visit(TextOf{}, repair);
    return text;
  }

  inline static const ServerName kServer{"a", 1, 1};
  SweepSnapshot snapshot_;
};

TEST_F(SweepDiffTest, AConsistentClusterNeedsNoRepair) { EXPECT_EQ(Repairs(), ""); }

TEST_F(SweepDiffTest, ARegionIsAssignedOnceAndOnlyIfNothingElseCaresForIt) {
  const RegionNode left = Region("r", RegionState::kOpening);
  snapshot_.unsettled = {left, left};
  EXPECT_EQ(Repairs(), "TransitRegionState for r");
  snapshot_.of_reshapes = {"r"};
  EXPECT_EQ(Repairs(), "");
  snapshot_.of_reshapes = {};
  snapshot_.servers[kServer].settlement = SettlementState::kAwait;
  EXPECT_EQ(Repairs(), "") << "its crash procedure assigns it";
  snapshot_.servers[kServer] = {};
  snapshot_.meta->location.reset();
  snapshot_.meta->owner = ProcId(1);
  EXPECT_EQ(Repairs(), "") << "its server is unknown, and is expired first";
  snapshot_.unsettled = {Region("r", RegionState::kOpening)};
  snapshot_.unsettled[0].location.reset();
  EXPECT_EQ(Repairs(), "TransitRegionState for r");
  snapshot_.unsettled[0].unplaced = true;
  EXPECT_EQ(Repairs(), "") << "a server may have it";
  snapshot_.absent_everywhere = {"r"};
  EXPECT_EQ(Repairs(), "TransitRegionState for r");
  snapshot_.unsettled[0].last_update = snapshot_.now;
  EXPECT_EQ(Repairs(), "") << "its state is recent";
  snapshot_.unsettled[0].last_update = {};
  snapshot_.table_states.clear();
  EXPECT_EQ(Repairs(), "") << "its table is unknown";
}

TEST_F(SweepDiffTest, AServerIsExpiredOnce) {
  snapshot_.servers.clear();
  snapshot_.on_unknown_servers[kServer] = {*snapshot_.meta, Region("r", RegionState::kOpen)};
  EXPECT_EQ(Repairs(), "expire a");
  snapshot_.meta->owner = ProcId(1);
  EXPECT_EQ(Repairs(), "expire a");
}

TEST_F(SweepDiffTest, MetaIsMadeOrAssigned) {
  snapshot_.meta->state = RegionState::kClosed;
  snapshot_.meta->location.reset();
  EXPECT_EQ(Repairs(), "TransitRegionState for 1588230740");
  snapshot_.meta.reset();
  snapshot_.meta_was_created = false;
  EXPECT_EQ(Repairs(), "InitMeta for 1588230740");
  snapshot_.meta_is_being_created = true;
  EXPECT_EQ(Repairs(), "");
}

TEST_F(SweepDiffTest, RemainsOfEndedProceduresAreRemovedInOrder) {
  snapshot_.slots = {ProcId(1), ProcId(2)};
  snapshot_.owned = {Region("r", RegionState::kOpen), Region("s", RegionState::kOpen)};
  snapshot_.owned[0].owner = ProcId(1);
  snapshot_.owned[1].owner = ProcId(2);
  snapshot_.running = {ProcId(2), ProcId(3)};
  TableNode table;
  table.name = TableName("default", "t");
  table.state = TableState::kDisabling;
  snapshot_.unsettled_tables.push_back({table, TableLockGrant{ProcId(3), 1, false}});
  EXPECT_EQ(Repairs(), "release slot of 1; release r; read 1");
  snapshot_.running.erase(ProcId(3));
  EXPECT_EQ(Repairs(), "release slot of 1; release r; DisableTable for table t; read 1");
}

class RepairRunnerTest : public MasterTest {
 protected:
  // Returns 1 if the repair was needed, else 0.
  std::size_t Run(Repair repair) {
    RepairRunner runner(master().logic().env, master().logic().server_manager);
    std::vector<Repair> repairs;
    repairs.push_back(std::move(repair));
    return runner.Run(std::move(repairs));
  }
};

TEST_F(RepairRunnerTest, AServerThatHasRegisteredMeanwhileIsKept) {
  cluster_.Boot(2);
  const ServerName server = MetaHost().name();
  EXPECT_EQ(Run(ExpireServer{server, "it was unknown", {}}), 0U);
  EXPECT_TRUE(master().logic().servers.IsOnline(server));
}

TEST_F(RepairRunnerTest, ARegionThatHasAnotherOwnerMeanwhileIsKept) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  RegionNode node = Regions("t")[0];
  ASSERT_TRUE(master().logic().regions.Own(node.encoded, ProcId(7)));
  node.owner = ProcId(6);
  EXPECT_EQ(Run(ReleaseRegion{node, {}}), 0U);
  EXPECT_EQ(Regions("t")[0].owner, ProcId(7));
}

}  // namespace
}  // namespace ratchet::master
