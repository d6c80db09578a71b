// S84: a region that cannot be opened is given up, by name: its files go to quarantine, an empty region has its keys,
// and at no moment has a row of the table no region.
#include "common/base/mutant.h"
#include "master/procedures/mend_table.h"
#include "master/state/key_ranges.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class MendTest : public MasterTest {
 protected:
  Result<ProcId> GiveUp(const std::string& region, procedure::Nonce nonce = {}) {
    return master().Ask([&](Done done) { admin().GiveUpRegion(region, {"me", nonce}, done); });
  }
  Result<ProcId> FillHoles(const std::string& table) {
    return master().Ask([&](Done done) { admin().FillHoles(TableName("default", table), {"me", {}}, done); });
  }
  std::string Said(const Result<ProcId>& pid) {
    return pid.ok() ? master().executor().GetResult(*pid).result : pid.error().message();
  }
  TableState State(const std::string& table) {
    return master().logic().tables().Get(TableName("default", table))->state;
  }
  // Rows of the table in hbase:meta, as clients see them.
  std::vector<KeyRange> HolesInMeta(const std::string& table) {
    std::vector<RegionNode> nodes;
    for (const auto& [encoded, row] : cluster_.meta().regions()) {
      RegionNode node;
      node.info = row.region;
      if (row.region.table == TableName("default", table)) nodes.push_back(node);
    }
    return Uncovered({}, nodes);
  }
  // A table with three regions of which the middle one cannot be opened: enabling it does not end.
  std::string GivenDamage() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    const std::string encoded = Encoded("t", 1);
    EXPECT_EQ(Outcome(Settled(Disable("t"))), "success");
    cluster_.storage().damaged.insert(encoded);
    enable_ = Enable("t");
    EXPECT_TRUE(cluster_.RunFor(Millis(5'000)));
    EXPECT_EQ(Outcome(enable_), "unfinished");
    EXPECT_EQ(State("t"), TableState::kEnabling);
    return encoded;
  }
  // Two regions have the middle rows of a table; one of them, which is returned, is closed.
  std::string GivenTwins() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    RegionRow row = cluster_.meta().regions().at(Encoded("t", 1));
    row.region.region_id += 50;
    row.state = RegionState::kClosed;
    const std::string twin = row.region.encoded_name();
    cluster_.meta().mutable_regions()[twin] = row;
    cluster_.storage().tables.at(cluster_.meta().tables().begin()->second.directory).regions.insert(twin);
    cluster_.KillMaster();
    cluster_.StartMaster();
    EXPECT_TRUE(cluster_.Settle());
    return twin;
  }
  // Beyond the reconciler's patience: what two looks have found is put right.
  void CompareOften() {
    for (int look = 0; look < 4; ++look) {
      ASSERT_TRUE(cluster_.RunFor(Millis(1'100)));
      master().logic().reconciler().LookNow();
      master().logic().reconciler().CompareWithMeta([](const Status&) {});
    }
    ASSERT_TRUE(cluster_.RunFor(Millis(500)));
  }
  Result<ProcId> Settled(Result<ProcId> pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return pid;
  }
  void ExpectMended(const std::string& given_up) {
    ExpectSettled();
    EXPECT_EQ(State("t"), TableState::kEnabled);
    ASSERT_EQ(Regions("t").size(), 3U);
    EXPECT_TRUE(RangeProblems(TableName("default", "t"), Regions("t"), 10).empty());
    EXPECT_TRUE(HolesInMeta("t").empty());
    for (const RegionNode& node : Regions("t")) EXPECT_NE(node.info.encoded_name(), given_up);
    cluster_.WriteEverywhere();
    ExpectServed("t", 3);
  }

  Result<ProcId> enable_ = Error(Code::kInternal, "not asked");
};

TEST_F(MendTest, ARegionThatTrapsItsTableIsGivenUp) {
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
  ExpectMended(damaged);
}

// In a table that stays disabled the new region stays closed.
TEST_F(MendTest, ARegionOfADisabledTableIsGivenUp) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  const std::string damaged = Encoded("t", 1);
  (void)Settled(Disable("t"));
  cluster_.storage().damaged.insert(damaged);
  EXPECT_EQ(Outcome(Settled(GiveUp(damaged))), "success");
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
  EXPECT_EQ(Outcome(Settled(Enable("t"))), "success");
  ExpectMended(damaged);
}

// One with a good row only by mistake: said so, nothing changes.
TEST_F(MendTest, WhatAServerHasIsNotGivenUp) {
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

// Asked in time, and opened before its turn came: what is healthy at the turn is kept.
TEST_F(MendTest, ARegionThatOpensAfterAllIsKept) {
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

// The new region has been opened by then, under a newer row.
TEST_F(MendTest, RowsAreWrittenOnceHoweverOftenTheStateIsRun) {
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
  master().executor().Rerun(*given_up, static_cast<procedure::StepNo>(MendTable::State::kUpdateMeta), {"me", "test"},
                            [&](const Status& status) { rerun = status; });
  ASSERT_TRUE(cluster_.RunUntil([&] { return rerun.ok(); })) << rerun.error().ToString();
  master().executor().Resume(scope, {"me", "test"}, [](const Status&) {});
  EXPECT_EQ(Outcome(Settled(given_up)), "success");
  ExpectMended(damaged);
}

TEST_F(MendTest, TheSameRequestIsOneProcedure) {
  const std::string damaged = GivenDamage();
  const auto first = GiveUp(damaged, {3, 4});
  const auto again = GiveUp(damaged, {3, 4});
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  ExpectMended(damaged);
  const auto late = GiveUp(damaged, {3, 4});
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(*first, *late);
}

// An operator ends the procedure at each of its steps: the reconciler brings the table to an end, or says which verb
// does.
TEST_F(MendTest, ABypassAtAnyStepLeavesNoTrap) {
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
    if (!master().logic().regions().Get(given_up)) break;  // behind its point
  }
  if (master().logic().regions().Get(given_up)) {
    EXPECT_EQ(Outcome(GiveUp(given_up)), "unfinished");
  }
  ExpectMended(given_up);
}

// At every moment: also between the two writes, and under a master that dies there.
TEST_F(MendTest, NoRowIsEverWithoutARegion) {
  const std::string damaged = GivenDamage();
  const auto pid = GiveUp(damaged);
  ASSERT_TRUE(cluster_.RunUntil([&] {
    EXPECT_TRUE(HolesInMeta("t").empty());
    return HasFailure() || master().executor().GetResult(*pid).finished();
  }));
  ExpectMended(damaged);
}

// Two regions have the same rows, as after an edit of hbase:meta by hand: one is given up, and none takes its place.
TEST_F(MendTest, OneOfTwoRegionsWithTheSameRowsIsGivenUp) {
  const std::string twin = GivenTwins();
  EXPECT_EQ(RangeProblems(TableName("default", "t"), Regions("t"), 10).size(), 1U);
  const auto given_up = Settled(GiveUp(twin));
  EXPECT_NE(Said(given_up).find("other regions have these rows"), std::string::npos) << Said(given_up);
  ExpectMended(twin);
}

TEST_F(MendTest, HolesAreFilled) {
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
  ExpectMended(lost);
  EXPECT_NE(Said(Settled(FillHoles("t"))).find("has a region for each row"), std::string::npos);
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

// S95: the other of two regions with the same rows has lost its row, or loses it to a write that is under way.
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

TEST_F(MendTest, GivingUpWhatAServerHasIsNoticed) {
  const ScopedMutant mutant("mend.give_up_placed");
  cluster_.Boot(3);
  GivenTable("t", 3);
  const auto given_up = Settled(GiveUp(Encoded("t", 1)));
  EXPECT_EQ(Outcome(given_up), "success");
  cluster_.WriteEverywhere();
  EXPECT_NE(cluster_.CheckSettled(), "") << "what is in quarantine is still served";
}

TEST_F(MendTest, TakingTheOldRowFirstIsNoticed) {
  const ScopedMutant mutant("mend.old_row_first");
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
