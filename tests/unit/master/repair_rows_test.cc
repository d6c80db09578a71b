// S95 (repair counts certain rows), S173 (only creations add table rows): rows that arrive late.
#include "common/base/mutant.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/repair_fixture.h"

namespace ratchet::master {
namespace {

class LateRowsTest : public RepairTest {
 protected:
  // The next write that creates rows of regions takes 20 seconds.
  void DelayTheNextRegions() {
    was_sent_ = false;
    cluster_.meta_write_delay = [this](const std::vector<MetaEdit>& edits) {
      if (edits.front().kind != MetaEdit::Kind::kCreateRegion || std::exchange(was_sent_, true)) return Millis(0);
      return Millis(20'000);
    };
  }
  // The first hole or overlap of the table's regions; empty: there is none.
  std::string RangeText() {
    const auto problems = RangeProblems(TableName("default", "t"), Regions("t"), 10);
    return problems.empty() ? "" : problems.front();
  }
  // When all rows have arrived: empty, or what is wrong with the table of three regions.
  std::string WhenAllHaveArrived(const Result<ProcId>& pid) {
    (void)cluster_.RunFor(Millis(1'000));
    const std::string shown = master().Unfinished();
    CompareOften();
    (void)cluster_.RunFor(Millis(20'000));
    CompareOften();
    if (const std::string problems = RangeText(); !problems.empty()) return problems;
    if (!cluster_.Settle() || Outcome(pid) != "success") return "the repair: " + Outcome(pid);
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    if (std::string wrong = cluster_.CheckSettled(); !wrong.empty()) return wrong;
    if (Regions("t").size() != 3) return "regions: " + std::to_string(Regions("t").size());
    if (shown.find("waits until it is known whether hbase:meta gets other regions of table t") == std::string::npos)
      return "nobody learns why it waits: " + shown;
    return {};
  }

  // A repair is bypassed while its new row is on its way, and the hole is filled again.
  std::string AHoleIsFilledTwice() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    const std::string lost = Encoded("t", 1);
    (void)Settled(Unassign(lost));
    cluster_.KillMaster();
    cluster_.meta().mutable_regions().erase(lost);
    cluster_.StartMaster();
    if (!cluster_.Settle()) return "not at rest";
    DelayTheNextRegions();
    (void)FillHoles("t");
    if (!cluster_.RunUntil([&] { return was_sent_; })) return "nothing was sent";
    BypassTheOnly("MendTable");
    return WhenAllHaveArrived(FillHoles("t"));
  }
  // The comparison writes the lost row of a region again, and the region is given up while the row is on its way.
  std::string ARegionIsGivenUpWhileItsRowIsOnItsWay() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    const std::string lost = Encoded("t", 1);
    (void)Settled(Unassign(lost));
    cluster_.meta().mutable_regions().erase(lost);
    DelayTheNextRegions();
    CompareOften();
    if (!was_sent_) return "nothing was sent";
    return WhenAllHaveArrived(GiveUp(lost));
  }

  // A give-up is bypassed while the row of the new region is on its way, and the table's directory is surveyed.
  std::string TheDirectoryOfALateRegionIsSurveyed() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    const std::string encoded = Encoded("t", 1);
    (void)Settled(Unassign(encoded));
    DelayTheNextRegions();
    (void)GiveUp(encoded);
    if (!cluster_.RunUntil([&] { return was_sent_; })) return "nothing was sent";
    BypassTheOnly("MendTable");
    CompareOften();
    if (FilesOf("t").regions.size() != 3) return "the directory of the new region was taken away";
    (void)cluster_.RunFor(Millis(20'000));
    for (int look = 0; look < 4; ++look) {
      (void)cluster_.RunFor(Millis(1'100));
      master().logic().reconciler.CompareWithMeta([](const Status&) {});
    }
    if (!cluster_.RunUntil([&] { return Regions("t").size() == 4; })) return "it never arrived";
    const auto again = GiveUp(encoded);
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    if (Said(again).find("other regions have these rows") == std::string::npos) return "the repair: " + Said(again);
    CompareOften();
    if (!cluster_.Settle()) return "not at rest: " + master().Unfinished();
    return cluster_.CheckSettled();
  }

  bool was_sent_ = false;
};

TEST_F(LateRowsTest, ARepairWaitsForRegionsThatAreOnTheirWay) { EXPECT_EQ(AHoleIsFilledTwice(), ""); }
TEST_F(LateRowsTest, AGiveUpWaitsForTheRowOfItsRegion) { EXPECT_EQ(ARegionIsGivenUpWhileItsRowIsOnItsWay(), ""); }
TEST_F(LateRowsTest, TheDirectoryOfALateRegionStays) { EXPECT_EQ(TheDirectoryOfALateRegionIsSurveyed(), ""); }

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
// As if the comparison sent the row after the repair had looked for creations, and before it owned the region.
TEST_F(LateRowsTest, AGiveUpWaitsForARowThatIsSentAfterItsFirstLook) {
  const ScopedMutant no_first_look("repair.mend_beside_creation");
  EXPECT_EQ(ARegionIsGivenUpWhileItsRowIsOnItsWay(), "");
}
TEST_F(LateRowsTest, MendingBesideACreationIsNoticed) {
  ExpectKilled(
      "repair.mend_beside_creation", [&] { return AHoleIsFilledTwice(); }, "for the same rows");
}
TEST_F(LateRowsTest, TakingTheDirectoryOfALateRegionIsNoticed) {
  ExpectKilled(
      "survey.take_what_is_in_hand", [&] { return TheDirectoryOfALateRegionIsSurveyed(); }, "was taken away");
}
TEST_F(LateRowsTest, DeletingBesideACreationIsNoticed) {
  ExpectKilled(
      "repair.delete_beside_creation",
      [&] {
        const ScopedMutant no_first_look("repair.mend_beside_creation");
        return ARegionIsGivenUpWhileItsRowIsOnItsWay();
      },
      "for the same rows");
}
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
