// S95 (repair counts certain rows).
#include "common/base/mutant.h"
#include "tests/unit/master/repair_fixture.h"

namespace ratchet::master {
namespace {

// Two regions have the same keys. The one that stays has lost its row of hbase:meta, or loses it to a pending write.
TEST_F(RepairTest, ARegionWhoseRowIsUncertainCoversNothing) {
  const std::string twin = GivenTwins();
  const std::string lost = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  ASSERT_EQ(cluster_.meta().mutable_regions().erase(lost), 1U);
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunUntil([&] {
    if (master().executor().GetResult(*pid).finished()) return true;
    return master().Unfinished().find("certainly has region " + lost) != std::string::npos;
  }));
  EXPECT_EQ(Outcome(pid), "unfinished");
  CompareOften();
  EXPECT_EQ(Outcome(Settled(pid)), "success");
  EXPECT_TRUE(HolesInMeta("t").empty());
}

// An ended repair has made the row of another region with the same keys, without receiving the acknowledgement.
TEST_F(RepairTest, RowMissingFromMemoryIsCounted) {
  const std::string twin = GivenTwins();
  const std::string other = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  (void)Settled(Unassign(other));
  master().logic().regions.Remove(other);
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunFor(Millis(300)));
  EXPECT_EQ(Outcome(pid), "unfinished");
  CompareOften();
  EXPECT_NE(Said(Settled(pid)).find("other regions have these rows"), std::string::npos) << Said(pid);
}

TEST_F(RepairTest, StaleRowIsRemovedWhileEnablingWaitsForTheRepair) {
  const std::string damaged = GivenDamage();
  GivenARowOfAnEarlierTable(damaged);
  const auto pid = GiveUp(damaged);
  CompareOften();
  EXPECT_EQ(Outcome(Settled(pid)), "success") << Said(pid);
  EXPECT_EQ(Outcome(enable_), "success");
  ExpectRepaired(damaged);
}

// The procedure that sent the write has been ended; its outcome is unknown.
TEST_F(RepairTest, WriteInProgressIsSupersededFirst) {
  const std::string twin = GivenTwins();
  const std::string other = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  const std::uint64_t late = cluster_.meta().regions().at(other).transition + 1;
  (void)master().logic().regions.Update(other, [&](RegionNode& node) { node.reserved = late; });
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunFor(Millis(300)));
  EXPECT_EQ(Outcome(pid), "unfinished");
  CompareOften();
  EXPECT_EQ(Outcome(Settled(pid)), "success");
  EXPECT_GT(cluster_.meta().regions().at(other).transition, late) << "a late deletion would still be taken";
}

// A repair of a disabled table is ended when it has written its new row and has not received the acknowledgement. The
// table is enabled without the region, and another master loads the row.
TEST_F(RepairTest, ARegionThatItsTableDidNotKnowIsOpened) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const std::string encoded = Encoded("t", 1);
  EXPECT_EQ(Outcome(Settled(Disable("t"))), "success");
  const auto repair = GiveUp(encoded);
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.meta().regions().size() == 4; }));
  ASSERT_EQ(Regions("t").size(), 3U) << "heard of at once";
  for (const auto& [name, row] : cluster_.meta().regions()) {
    // A master that loads CLOSED treats it as an operator's request.
    EXPECT_TRUE(master().logic().regions.Get(name) || row.state == RegionState::kOffline) << name;
  }
  master().executor().Bypass(*repair, true, {"op", "enough"}, [](const Status&) {});
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(*repair).finished(); }));
  (void)Enable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return State("t") == TableState::kEnabling; }));
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  EXPECT_EQ(Outcome(Settled(GiveUp(encoded))), "success");
  ExpectRepaired(encoded);
}

#if defined(RATCHET_MUTANTS)
TEST_F(RepairTest, TrustInMemoryIsNoticed) {
  const ScopedMutant mutant("repair.trust_memory");
  const std::string twin = GivenTwins();
  const std::string lost = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  ASSERT_EQ(cluster_.meta().mutable_regions().erase(lost), 1U);
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(*pid).finished(); }));
  EXPECT_FALSE(HolesInMeta("t").empty());
}

TEST_F(RepairTest, LateWriteThatIsNotSupersededIsNoticed) {
  const ScopedMutant mutant("reconciler.late_writes");
  const std::string twin = GivenTwins();
  const std::string other = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  const std::uint64_t late = cluster_.meta().regions().at(other).transition + 1;
  (void)master().logic().regions.Update(other, [&](RegionNode& node) { node.reserved = late; });
  const auto pid = GiveUp(twin);
  CompareOften();
  EXPECT_EQ(Outcome(pid), "unfinished") << "the repair waits without end";
}

TEST_F(RepairTest, WaitingForTheEnablingIsNoticed) {
  const ScopedMutant mutant("reconciler.rows_of_the_enabled");
  const std::string damaged = GivenDamage();
  GivenARowOfAnEarlierTable(damaged);
  const auto pid = GiveUp(damaged);
  CompareOften();
  EXPECT_EQ(Outcome(pid), "unfinished") << "each waits for the other";
}
#endif

}  // namespace
}  // namespace ratchet::master
