// S95: a mend counts only regions whose rows are certain.
#include "common/base/mutant.h"
#include "tests/unit/master/mend_fixture.h"

namespace ratchet::master {
namespace {

// The other of two regions with the same rows has lost its row, or loses it to a write that is under way.
TEST_F(MendTest, ARegionWhoseRowIsUncertainCoversNothing) {
  const std::string twin = GivenTwins();
  const std::string lost = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  ASSERT_EQ(cluster_.meta().mutable_regions().erase(lost), 1U);
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunUntil([&] {
    if (master().executor().GetResult(*pid).finished()) return true;
    return master().Unfinished().find("is certain that hbase:meta has region " + lost) != std::string::npos;
  }));
  EXPECT_EQ(Outcome(pid), "unfinished");
  CompareOften();
  EXPECT_EQ(Outcome(Settled(pid)), "success");
  EXPECT_TRUE(HolesInMeta("t").empty());
}

// An ended mend has made the row of another region with the same keys, and did not hear of it.
TEST_F(MendTest, ARowThatMemoryDoesNotHaveCountsToo) {
  const std::string twin = GivenTwins();
  const std::string other = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  (void)Settled(Unassign(other));
  master().logic().regions().Remove(other);
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunFor(Millis(300)));
  EXPECT_EQ(Outcome(pid), "unfinished");
  CompareOften();
  EXPECT_NE(Said(Settled(pid)).find("other regions have these rows"), std::string::npos) << Said(pid);
}

TEST_F(MendTest, ARowOfAnEarlierTableIsRemovedWhileTheEnablingWaitsForTheMend) {
  const std::string damaged = GivenDamage();
  GivenARowOfAnEarlierTable(damaged);
  const auto pid = GiveUp(damaged);
  CompareOften();
  EXPECT_EQ(Outcome(Settled(pid)), "success") << Said(pid);
  EXPECT_EQ(Outcome(enable_), "success");
  ExpectMended(damaged);
}

// The procedure that sent the write has been ended; its outcome is not known.
TEST_F(MendTest, AWriteThatIsUnderWayIsOvertakenFirst) {
  const std::string twin = GivenTwins();
  const std::string other = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  const std::uint64_t late = cluster_.meta().regions().at(other).transition + 1;
  (void)master().logic().regions().Update(other, [&](RegionNode& node) { node.taken = late; });
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunFor(Millis(300)));
  EXPECT_EQ(Outcome(pid), "unfinished");
  CompareOften();
  EXPECT_EQ(Outcome(Settled(pid)), "success");
  EXPECT_GT(cluster_.meta().regions().at(other).transition, late) << "a late deletion would still be taken";
}

// A mend of a disabled table is ended when it has written its new row and has not heard of that. The table is enabled
// without the region, and another master loads the row.
TEST_F(MendTest, ARegionThatItsTableDidNotKnowIsOpened) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const std::string encoded = Encoded("t", 1);
  EXPECT_EQ(Outcome(Settled(Disable("t"))), "success");
  const auto mend = GiveUp(encoded);
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.meta().regions().size() == 4; }));
  ASSERT_EQ(Regions("t").size(), 3U) << "heard of at once";
  for (const auto& [name, row] : cluster_.meta().regions()) {
    // A master that loads CLOSED takes it for what an operator asked for.
    EXPECT_TRUE(master().logic().regions().Get(name) || row.state == RegionState::kOffline) << name;
  }
  master().executor().Bypass(*mend, true, {"op", "enough"}, [](const Status&) {});
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(*mend).finished(); }));
  (void)Enable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return State("t") == TableState::kEnabling; }));
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  EXPECT_EQ(Outcome(Settled(GiveUp(encoded))), "success");
  ExpectMended(encoded);
}

#if defined(RATCHET_MUTANTS)
TEST_F(MendTest, TrustInMemoryIsNoticed) {
  const ScopedMutant mutant("mend.trust_memory");
  const std::string twin = GivenTwins();
  const std::string lost = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  ASSERT_EQ(cluster_.meta().mutable_regions().erase(lost), 1U);
  const auto pid = GiveUp(twin);
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(*pid).finished(); }));
  EXPECT_FALSE(HolesInMeta("t").empty());
}

TEST_F(MendTest, ALateWriteThatIsNotOvertakenIsNoticed) {
  const ScopedMutant mutant("reconciler.late_writes");
  const std::string twin = GivenTwins();
  const std::string other = Encoded("t", 1) == twin ? Encoded("t", 2) : Encoded("t", 1);
  const std::uint64_t late = cluster_.meta().regions().at(other).transition + 1;
  (void)master().logic().regions().Update(other, [&](RegionNode& node) { node.taken = late; });
  const auto pid = GiveUp(twin);
  CompareOften();
  EXPECT_EQ(Outcome(pid), "unfinished") << "the mend waits for ever";
}

TEST_F(MendTest, WaitingForTheEnablingIsNoticed) {
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
