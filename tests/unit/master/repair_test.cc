// S84 (give up a region by name): a region that cannot be opened is given up, by name. Its files go to quarantine, an
// empty region gets its keys, and at each moment every row of the table has a region.
#include <gmock/gmock.h>

#include "common/base/mutant.h"
#include "tests/unit/master/repair_fixture.h"

namespace ratchet::master {
namespace {

TEST_F(RepairTest, RegionThatBlocksItsTableIsGivenUp) {
  const std::string damaged = GivenDamage();
  const std::string whole = Encoded("t", 0);
  const std::uint64_t rows = cluster_.storage().acknowledged[whole];
  const auto given_up = Settled(GiveUp(damaged));
  EXPECT_EQ(Outcome(given_up), "success");
  EXPECT_EQ(Outcome(enable_), "success");
  const std::string directory = cluster_.meta().tables().begin()->second.directory;
  const std::string place = fmt::format("{}/{}.{}", directory, damaged, *given_up);
  EXPECT_TRUE(cluster_.storage().quarantined.contains(place));
  EXPECT_NE(Said(given_up).find("quarantine/data/" + place), std::string::npos) << Said(given_up);
  EXPECT_NE(Said(given_up).find("from 'b' to 'c'"), std::string::npos) << Said(given_up);
  EXPECT_EQ(cluster_.storage().acknowledged[whole], rows);
  ExpectRepaired(damaged);
}

// In a table that stays disabled the new region stays closed.
TEST_F(RepairTest, ARegionOfADisabledTableIsGivenUp) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const std::string damaged = Encoded("t", 1);
  (void)Settled(Disable("t"));
  cluster_.storage().damaged.insert(damaged);
  EXPECT_EQ(Outcome(Settled(GiveUp(damaged))), "success");
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
  EXPECT_EQ(Outcome(Settled(Enable("t"))), "success");
  ExpectRepaired(damaged);
}

// A valid region named by mistake: the error states that, and nothing changes.
TEST_F(RepairTest, WhatAServerHasIsNotGivenUp) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const std::string open = Encoded("t", 1);
  EXPECT_NE(Said(GiveUp(open)).find("ratchet unassign " + open), std::string::npos);
  EXPECT_NE(Said(GiveUp(std::string(kMetaEncodedName))).find("hbase:meta cannot be given up"), std::string::npos);
  EXPECT_FALSE(GiveUp("0123456789abcdef0123456789abcdef").ok());
  EXPECT_FALSE(FillHoles("nosuch").ok());
  HostOf(open).order_time = Millis(20'000);
  (void)Move(open);
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[1].state == RegionState::kClosing; }));
  EXPECT_NE(Said(GiveUp(open)).find("has not been refused"), std::string::npos);
  ExpectServed("t", 3);
}

// The region was opened between the request and the lock grant of the procedure. A region that is healthy by then is
// kept.
TEST_F(RepairTest, ARegionThatOpensAfterAllIsKept) {
  const std::string damaged = GivenDamage();
  bool paused = false;
  const auto scope = procedure::PauseScope::Type("MendTable");
  master().executor().Pause(scope, {"me", "test"}, Millis(0), [&](const auto& ok) { paused = ok.ok(); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return paused; }));
  const auto given_up = GiveUp(damaged);
  cluster_.storage().damaged.clear();
  ASSERT_TRUE(cluster_.RunUntil([&] { return State("t") == TableState::kEnabled; }));
  master().executor().Resume(scope, {"me", "test"}, [](const Status&) {});
  EXPECT_NE(Outcome(Settled(given_up)).find("ratchet unassign"), std::string::npos);
  EXPECT_TRUE(cluster_.storage().quarantined.empty());
  ExpectServed("t", 3);
}

// The region was CLOSED, and its table is enabled: it must not stay closed.
TEST_F(RepairTest, ARegionIsOpenedAfterAnAbortedGiveUp) {
  (void)GivenAParkedGiveUp();
  AbortTheGiveUp();
  CompareOften();
  EXPECT_EQ(Outcome(enable_), "success");
  ExpectServed("t", 3);
}

// Another master knows only the row.
TEST_F(RepairTest, AnotherMasterOpensARegionAfterAnAbortedGiveUp) {
  const std::string encoded = GivenAParkedGiveUp();
  EXPECT_EQ(cluster_.meta().regions().at(encoded).state, RegionState::kOffline);
  FilesOf("t").descriptor_damaged = false;
  ASSERT_TRUE(cluster_.RunUntil([&] { return Outcome(enable_) == "success"; }));
  AbortTheGiveUp();
  cluster_.StartMaster();
  CompareOften();
  ExpectServed("t", 3);
}

// The server was chosen and recorded, and no order was sent: memory shows OPENING, and the row is CLOSED.
TEST_F(RepairTest, ARegionWithoutAnOrderIsOpenedAfterAnAbortedGiveUp) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const std::string encoded = Encoded("t", 1);
  EXPECT_EQ(Outcome(Settled(Disable("t"))), "success");
  enable_ = Enable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().regions.Get(encoded)->state == RegionState::kOpening; }));
  ASSERT_EQ(cluster_.meta().regions().at(encoded).state, RegionState::kClosed);
  FilesOf("t").descriptor_damaged = true;
  cluster_.StartMaster();
  ParkAGiveUp(encoded);
  EXPECT_EQ(cluster_.meta().regions().at(encoded).state, RegionState::kFailedOpen);
  AbortTheGiveUp();
  cluster_.StartMaster();
  CompareOften();
  ExpectServed("t", 3);
}

// The master dies after the row was written and before the assignment learns of it. The give-up is aborted: the
// assignment opens the region after all, with a higher number (S65: transition number reserved first).
TEST_F(RepairTest, AnUnfinishedWriteForAGiveUpIsFollowedByHigherNumbers) {
  const std::string encoded = GivenARegionThatWaitsForItsSchema();
  give_up_ = GiveUp(encoded);
  const auto row = [&] { return cluster_.meta().regions().at(encoded); };
  ASSERT_TRUE(cluster_.RunUntil([&] { return row().state == RegionState::kOffline; }));
  ASSERT_EQ(Node(encoded).state, RegionState::kClosed) << "the assignment has learned of it";
  const std::uint64_t number = row().transition;
  cluster_.StartMaster();
  AbortTheGiveUp();
  ASSERT_TRUE(cluster_.RunUntil([&] { return row().state == RegionState::kOpening; }));
  EXPECT_GT(row().transition, number);
  ExpectServed("t", 3);
  EXPECT_EQ(Outcome(enable_), "success");
}

// The table is disabled meanwhile: the region that is given up no longer has to be open.
TEST_F(RepairTest, ARegionOfADisabledTableStaysClosedAfterAnAbortedGiveUp) {
  (void)GivenAParkedGiveUp();
  const auto disabled = Disable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return Outcome(disabled) == "success"; })) << master().Unfinished();
  AbortTheGiveUp();
  CompareOften();
  ExpectSettled();
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
}

// The new region has been opened by then, under a newer row.
TEST_F(RepairTest, RowsAreWrittenOnceHoweverOftenTheStateIsRun) {
  const std::string damaged = GivenDamage();
  const auto given_up = GiveUp(damaged);
  ASSERT_TRUE(given_up.ok());
  const auto at_the_end = [&] {
    const auto info = master().executor().Get(*given_up);
    return info && info->step_name == "FINISH";
  };
  ASSERT_TRUE(cluster_.RunUntil(at_the_end));
  const auto scope = procedure::PauseScope::Type("MendTable");
  master().executor().Pause(scope, {"me", "test"}, Millis(0), [](const auto&) {});
  ASSERT_TRUE(
      cluster_.RunUntil([&] { return master().executor().Get(*given_up)->state == procedure::ProcState::kRunnable; }));
  Status rerun = Error(Code::kInternal, "not asked");
  master().executor().Rerun(*given_up, *master().executor().FindStep(*given_up, "UPDATE_META"), {"me", "test"},
                            [&](const Status& status) { rerun = status; });
  ASSERT_TRUE(cluster_.RunUntil([&] { return rerun.ok(); })) << rerun.error().ToString();
  master().executor().Resume(scope, {"me", "test"}, [](const Status&) {});
  EXPECT_EQ(Outcome(Settled(given_up)), "success");
  ExpectRepaired(damaged);
}

TEST_F(RepairTest, TheSameRequestIsOneProcedure) {
  const std::string damaged = GivenDamage();
  const auto first = GiveUp(damaged, {3, 4});
  const auto again = GiveUp(damaged, {3, 4});
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  ExpectRepaired(damaged);
  const auto late = GiveUp(damaged, {3, 4});
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(*first, *late);
}

// An operator ends the procedure at each of its steps: the reconciler finishes the table, or names the verb that does.
TEST_F(RepairTest, BypassAtAnyStepBlocksNoTable) {
  const std::string damaged = GivenDamage();
  std::string given_up = damaged;
  for (const char* step : {"PREPARE", "MOVE_FILES", "UPDATE_META", "ASSIGN_REGIONS"}) {
    SCOPED_TRACE(step);
    const auto pid = GiveUp(given_up);
    ASSERT_TRUE(pid.ok()) << pid.error().ToString();
    ASSERT_TRUE(cluster_.RunUntil([&] {
      const auto info = master().executor().Get(*pid);
      return info && info->step_name == step;
    }));
    bool ended = false;
    master().executor().Bypass(*pid, true, {"op", "enough"}, [&](const Status& status) { ended = status.ok(); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return ended || master().executor().GetResult(*pid).finished(); }));
    CompareOften();
    EXPECT_TRUE(HolesInMeta("t").empty());
    if (!master().logic().regions.Get(given_up)) break;  // after its point of no return
  }
  if (master().logic().regions.Get(given_up)) {
    EXPECT_EQ(Outcome(GiveUp(given_up)), "unfinished");
  }
  ExpectRepaired(given_up);
}

// Checks every moment, including those between the two writes and under a master that dies there.
TEST_F(RepairTest, NoRowIsEverWithoutARegion) {
  const std::string damaged = GivenDamage();
  const auto pid = GiveUp(damaged);
  ASSERT_TRUE(cluster_.RunUntil([&] {
    EXPECT_TRUE(HolesInMeta("t").empty());
    return HasFailure() || master().executor().GetResult(*pid).finished();
  }));
  ExpectRepaired(damaged);
}

// Two regions have the same rows, as after an edit of hbase:meta by hand: one is given up, and no region replaces it.
TEST_F(RepairTest, OneOfTwoRegionsWithTheSameRowsIsGivenUp) {
  const std::string twin = GivenTwins();
  EXPECT_EQ(RangeProblems(TableName("default", "t"), Regions("t"), 10).size(), 1U);
  const auto given_up = Settled(GiveUp(twin));
  EXPECT_NE(Said(given_up).find("other regions have these rows"), std::string::npos) << Said(given_up);
  ExpectRepaired(twin);
}

TEST_F(RepairTest, HolesAreFilled) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const std::string lost = Encoded("t", 1);
  (void)Settled(Unassign(lost));
  cluster_.KillMaster();
  cluster_.meta().mutable_regions().erase(lost);
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  ASSERT_EQ(Regions("t").size(), 2U);
  EXPECT_EQ(Outcome(Settled(FillHoles("t"))), "success");
  ExpectRepaired(lost);
  EXPECT_NE(Said(Settled(FillHoles("t"))).find("cover all keys"), std::string::npos);
}

TEST(KeyRanges, WhatRegionsDoNotCover) {
  const auto region = [](const std::string& start, const std::string& end) {
    RegionNode node;
    node.info.table = TableName("default", "t");
    node.info.start_key = start;
    node.info.end_key = end;
    return node;
  };
  const auto text = [](const std::vector<KeyRange>& ranges) {
    std::string all;
    for (const KeyRange& range : ranges) all += "[" + range.start + "," + range.end + ")";
    return all;
  };
  EXPECT_EQ(text(Uncovered({}, {})), "[,)");
  EXPECT_EQ(text(Uncovered({}, {region("", "")})), "");
  EXPECT_EQ(text(Uncovered({}, {region("", "c"), region("c", "")})), "");
  EXPECT_EQ(text(Uncovered({}, {region("b", "c"), region("e", "g")})), "[,b)[c,e)[g,)");
  EXPECT_EQ(text(Uncovered({}, {region("", "d"), region("b", "c"), region("f", "")})), "[d,f)");
  EXPECT_EQ(text(Uncovered({"b", "f"}, {region("", "c"), region("d", "e"), region("g", "")})), "[c,d)[e,f)");
  EXPECT_EQ(text(Uncovered({"b", "f"}, {region("a", "b"), region("f", "")})), "[b,f)");
  EXPECT_EQ(text(Uncovered({"b", ""}, {region("", "c")})), "[c,)");
  RegionNode parent = region("b", "c");
  parent.state = RegionState::kSplit;
  EXPECT_EQ(text(Uncovered({}, {region("", "b"), parent, region("c", "")})), "[b,c)");
  const TableName table("default", "t");
  EXPECT_TRUE(RangeProblems(table, {region("", "b"), region("b", "")}, 9).empty());
  const auto twice = RangeProblems(table, {region("", "b"), region("", "c"), region("c", "")}, 9);
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_NE(twice[0].find("from the first to 'b'"), std::string::npos) << twice[0];
  EXPECT_EQ(RangeProblems(table, {region("", "d"), region("a", "b"), region("c", "\x01\xff")}, 9).size(), 3U);
  EXPECT_EQ(RangeText({"\x01'", std::string(100, 'x')}).find("from '\\x01\\x27' to 'xxx"), 0U)
      << RangeText({"\x01'", ""});
}

#if defined(RATCHET_MUTANTS)
TEST_F(RepairTest, GivingUpWhatAServerHasIsNoticed) {
  const ScopedMutant mutant("repair.give_up_placed");
  cluster_.Boot(3);
  GivenTable("t", 3);
  const auto given_up = Settled(GiveUp(Encoded("t", 1)));
  EXPECT_EQ(Outcome(given_up), "success");
  cluster_.WriteEverywhere();
  EXPECT_THAT(cluster_.CheckSettled(), ::testing::HasSubstr("is open but not in meta"))
      << "what is in quarantine is still served";
}

TEST_F(RepairTest, LeavingTheRowClosedIsNoticed) {
  const ScopedMutant mutant("repair.leave_it_closed");
  const std::string encoded = GivenAParkedGiveUp();
  AbortTheGiveUp();
  CompareOften();
  EXPECT_EQ(Outcome(enable_), "success");
  EXPECT_EQ(master().logic().regions.Get(encoded)->state, RegionState::kClosed) << "no procedure opens the region";
}

TEST_F(RepairTest, RemovingTheOldRowFirstIsNoticed) {
  const ScopedMutant mutant("repair.old_row_first");
  const std::string damaged = GivenDamage();
  const auto pid = GiveUp(damaged);
  bool hole = false;
  ASSERT_TRUE(cluster_.RunUntil([&] {
    hole = hole || !HolesInMeta("t").empty();
    return master().executor().GetResult(*pid).finished();
  }));
  EXPECT_TRUE(hole);
}
#endif

}  // namespace
}  // namespace ratchet::master
