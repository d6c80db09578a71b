// Regions move: assign, unassign, move, refused openings, answers lost and repeated, masters that die in between.
#include "master/cluster/transition_counts.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/data.pb.h"
#include "master/repair/reconciler.h"
#include "procedure/api/record.pb.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

TEST_F(MasterTest, BootsAndOpensMeta) {
  cluster_.Boot(1);
  EXPECT_TRUE(master().logic().ready());
  EXPECT_TRUE(master().logic().regions.MetaLocation().has_value());
  ExpectSettled();
}

TEST_F(MasterTest, CreatesATableOnAllServers) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  ExpectSettled();
  for (sim::SimServer* server : cluster_.Alive()) EXPECT_GE(server->regions().size(), 3U);
}

TEST_F(MasterTest, MovesARegionToItsTarget) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  const auto pid = Move(Encoded("t"), target.name());
  ExpectServed("t", 1);
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_TRUE(target.IsOpen(Encoded("t")));
}

// HBase's line "Starting ...": with the state and the place that the region has then.
TEST_F(MasterTest, TheStartOfATransitionShowsTheRegionAndThePlan) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const RegionNode node = Regions("t")[0];
  const auto start = [this](const procedure::ProcedurePtr& procedure) {
    return procedure->DescribeStart(master().logic().env_ref()).text();
  };
  const std::string region = "table=t, region=" + node.info.encoded_name();
  const std::string place = "rit=OPEN, location=" + node.location->ToString();
  EXPECT_EQ(start(TransitRegionState::Move(node.info, std::nullopt)),
            region + ", MOVE; " + place + "; forceNewPlan=true, retain=false");
  EXPECT_EQ(start(TransitRegionState::Reopen(node.info)),
            region + ", REOPEN; " + place + "; forceNewPlan=false, retain=true");
  EXPECT_EQ(
      start(TransitRegionState::Move(node.info, node.location)),
      region + ", MOVE; target=" + node.location->ToString() + ", " + place + "; forceNewPlan=false, retain=false");
  RegionInfo unknown = node.info;
  unknown.region_id += 1;
  EXPECT_EQ(start(TransitRegionState::Assign(unknown, {})),
            "table=t, region=" + unknown.encoded_name() +
                ", ASSIGN; rit=OFFLINE, location=null; forceNewPlan=false, retain=false");
}

// HBase counts assign, unassign, move and reopen separately.
TEST_F(MasterTest, TransitionsAreCountedByKind) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const auto look = [](TransitionKind kind) { return TransitionCounts::OfProcess().Look(kind); };
  std::map<TransitionKind, TransitionCounts::View> before;
  constexpr std::array kKinds{TransitionKind::kAssign, TransitionKind::kUnassign, TransitionKind::kMove,
                              TransitionKind::kReopen};
  for (const TransitionKind kind : kKinds) before[kind] = look(kind);
  (void)Move(Encoded("t"));
  ExpectSettled();
  (void)Unassign(Encoded("t"));
  ExpectSettled();
  (void)Assign(Encoded("t"));
  ExpectSettled();
  for (const TransitionKind kind : kKinds) {
    const TransitionCounts::View after = look(kind);
    const std::uint64_t expected = kind == TransitionKind::kReopen ? 0 : 1;
    const auto of = std::string(kTransitionKindNames[static_cast<std::size_t>(kind)]);
    EXPECT_EQ(after.submitted - before[kind].submitted, expected) << of;
    EXPECT_EQ(after.succeeded - before[kind].succeeded, expected) << of;
    EXPECT_EQ(after.failed, before[kind].failed) << of;
    std::uint64_t noted = 0;
    for (std::size_t i = 0; i < after.took.counts.size(); ++i)
      noted += after.took.counts[i] - before[kind].took.counts[i];
    EXPECT_EQ(noted, expected) << of;
  }
}

TEST_F(MasterTest, MovesSomewhereElseWithoutATarget) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& before = HostOf(Encoded("t"));
  EXPECT_EQ((cluster_.Settle(), Outcome(Move(Encoded("t")))), "unfinished");
  ExpectSettled();
  EXPECT_FALSE(before.IsOpen(Encoded("t")));
  EXPECT_EQ(before.MovedTo(Encoded("t")), Regions("t")[0].location) << "clients learn its new server";
}

TEST_F(MasterTest, UnassignsAndAssigns) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  (void)Unassign(Encoded("t"));
  ExpectSettled();
  EXPECT_EQ(Regions("t")[0].state, RegionState::kClosed);
  EXPECT_EQ(Outcome(Move(Encoded("t"))).find("FAILED_PRECONDITION"), 0U);
  (void)Assign(Encoded("t"));
  ExpectSettled();
  EXPECT_EQ(Regions("t")[0].state, RegionState::kOpen);
}

TEST_F(MasterTest, ARefusedOpeningIsTriedElsewhere) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.refuse_opens = 1;
  (void)Move(Encoded("t"), target.name());
  ExpectSettled();
  EXPECT_EQ(target.refuse_opens, 0U);
  EXPECT_FALSE(target.IsOpen(Encoded("t")));
}

TEST_F(MasterTest, ManyRefusalsShowAsFailedOpenAndEndOnceItIsPossible) {
  cluster_.Boot(1);
  GivenTable("t", 1);
  cluster_.Alive().front()->refuse_opens = 15;
  (void)Unassign(Encoded("t"));
  ASSERT_TRUE(cluster_.Settle());
  (void)Assign(Encoded("t"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].state == RegionState::kFailedOpen; }));
  EXPECT_EQ(cluster_.meta().regions().at(Encoded("t")).state, RegionState::kFailedOpen);
  // The state outlives the master unchanged.
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  EXPECT_EQ(Regions("t")[0].state, RegionState::kFailedOpen);
  ExpectServed("t", 1);
  EXPECT_EQ(Regions("t")[0].state, RegionState::kOpen);
}

// HBASE-30357: a FAILED_OPEN that was durable came back as OPEN after a failover; no server served the region.
TEST_F(MasterTest, FailedOpenIsRestoredAsFailedOpen) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.refuse_opens = 1;
  (void)Move(Encoded("t"), target.name());
  // The master dies right after the answer has become durable.
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.refuse_opens == 0; }));
  const std::uint64_t before = cluster_.disk().CommitCount();
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.disk().CommitCount() > before; }));
  cluster_.StartMaster();
  ExpectServed("t", 1);
  EXPECT_FALSE(target.IsOpen(Encoded("t")));
}

// A report that was durable for meta's own opening was not applied after a failover: meta stayed OPENING, and was
// opened a second time elsewhere.
TEST_F(MasterTest, MetasOwnOpenedIsAppliedAgainAfterAFailover) {
  cluster_.Boot(2);
  sim::SimServer& target = OtherThan(MetaHost());
  (void)Move("hbase:meta,,1", target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(std::string(kMetaEncodedName)); }));
  const std::uint64_t before = cluster_.disk().CommitCount();
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.disk().CommitCount() > before; }));  // the report
  cluster_.StartMaster();
  ExpectSettled();
  EXPECT_EQ(master().logic().regions.MetaLocation(), target.name());
}

// A server that does not have the region answered nothing, and the region stayed CLOSING permanently.
TEST_F(MasterTest, ClosingWhatIsNotThereIsAnswered) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const auto node = Regions("t")[0];
  // The master's memory has it open on the wrong server, as after a lost close.
  sim::SimServer& wrong = OtherThan(HostOf(Encoded("t")));
  HostOf(Encoded("t")).Exit("so that nobody has it");
  cluster_.live().clear();
  master().logic().regions.Update(Encoded("t"), [&](RegionNode& changed) { changed.location = wrong.name(); });
  cluster_.live().insert(wrong.name());
  const auto pid = Unassign(Encoded("t"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].state == RegionState::kClosed; }))
      << master().Unfinished();
  ASSERT_TRUE(cluster_.RunUntil([&] { return Outcome(pid) == "success"; }));
}

TEST_F(MasterTest, ReportsOfALowerEpochAreAnsweredWithWhatIsExpected) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.hold_reports = 1;
  (void)Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  ASSERT_TRUE(cluster_.RunFor(Millis(20)));
  cluster_.StartMaster();  // the report names the earlier epoch
  target.ReleaseReports();
  ExpectServed("t", 1);
  EXPECT_TRUE(target.IsOpen(Encoded("t")));
}

// S17 (answer or fence settles an order): the opener has not answered, so the order must not be forgotten, whatever is
// requested.
TEST_F(MasterTest, AnOrderThatIsNotSettledIsNotBypassed) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.hold_reports = 1;
  const auto move = Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  const auto orders = master().executor().FindUnfinished("OpenRegion");
  ASSERT_EQ(orders.size(), 1U);
  const auto bypass = [&](ProcId pid, bool recursive) {
    std::optional<Status> answer;
    master().executor().Bypass(pid, recursive, {"op", "stuck"}, [&](const Status& status) { answer = status; });
    cluster_.RunUntil([&] { return answer.has_value(); });
    return answer->ok() ? std::string("ok") : answer->error().message();
  };
  EXPECT_NE(bypass(orders[0], false).find("is not settled"), std::string::npos);
  EXPECT_NE(bypass(master().executor().Get(orders[0])->parent, true).find("is not settled"), std::string::npos);
  target.ReleaseReports();
  ExpectSettled();
  EXPECT_EQ(Outcome(move), "success");
  EXPECT_TRUE(target.IsOpen(Encoded("t")));
}

// No procedure continues the work of one that an operator ended in the middle: the reconciler repairs the region.
TEST_F(MasterTest, ABypassedTransitionLeavesWhatTheReconcilerPutsRight) {
  cluster_.Boot(1);
  GivenTable("t", 1);
  sim::SimServer& server = *cluster_.Alive().front();
  server.refuse_opens = 1'000;
  (void)Unassign(Encoded("t"));
  ASSERT_TRUE(cluster_.Settle());
  (void)Assign(Encoded("t"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].state == RegionState::kFailedOpen; }));
  BypassTheOnly("TransitRegionState");
  server.refuse_opens = 0;
  LetTheReconcilerLookTwice();
}

// The procedure that has made a table ENABLING or DISABLING keeps other table procedures away from it; when that one is
// bypassed, the reconciler has it finished.
TEST_F(MasterTest, ATableThatABypassHasLeftHalfWayIsFinished) {
  cluster_.Boot(1);
  sim::SimServer& server = *cluster_.Alive().front();
  const auto state = [&] { return cluster_.meta().tables().at(TableName("default", "t")).state; };

  server.refuse_opens = 1'000;
  (void)Create("t", 2);
  ASSERT_TRUE(
      cluster_.RunUntil([&] { return Regions("t").size() == 2 && Regions("t")[0].state == RegionState::kFailedOpen; }));
  BypassTheOnly("CreateTable");
  EXPECT_EQ(state(), TableState::kEnabling);
  server.refuse_opens = 0;
  LetTheReconcilerLookTwice();
  EXPECT_EQ(state(), TableState::kEnabled);
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kOpen);

  // No order is in progress; otherwise it would have to be settled first.
  const auto pause = [&](bool resume) {
    const auto scope = procedure::PauseScope::Type("TransitRegionState");
    if (resume) {
      master().executor().Resume(scope, {"op", "go on"}, [](const Status&) {});
    } else {
      master().executor().Pause(scope, {"op", "to look"}, Millis(0), [](const Result<procedure::PauseReport>&) {});
    }
  };
  pause(false);
  (void)Disable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return state() == TableState::kDisabling; }));
  ASSERT_TRUE(cluster_.RunFor(Millis(10)));
  BypassTheOnly("DisableTable");
  pause(true);
  EXPECT_EQ(state(), TableState::kDisabling);
  LetTheReconcilerLookTwice();
  EXPECT_EQ(state(), TableState::kDisabled);
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
}

TEST_F(MasterTest, ABypassedCrashProcedureIsFollowedByAnother) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  cluster_.Kill(OtherThan(MetaHost()));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("SplitWal").empty(); }));
  const auto crash = master().executor().FindUnfinished("ServerCrash");
  ASSERT_EQ(crash.size(), 1U);
  master().executor().Bypass(crash[0], true, {"op", "by mistake"},
                             [](const Status& status) { EXPECT_TRUE(status.ok()); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(crash[0]).finished(); }));
  master().logic().reconciler.Sweep();
  ExpectSettled();
}

// The procedure itself decides whether it awaits an answer (Procedure::AwaitedAttempt), not its type's name: a report
// that no procedure accepts is acknowledged only when no unfinished procedure has that pid.
TEST_F(MasterTest, AReportForAProcedureThatAwaitsNoneIsNotAcknowledged) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.hold_reports = 1;
  (void)Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  const auto transits = master().executor().FindUnfinished("TransitRegionState");
  ASSERT_EQ(transits.size(), 1U);
  std::optional<Result<ReportAnswer>> answer;
  const auto ask = [&](ProcId pid, Epoch epoch) {
    answer.reset();
    master().logic().reports.OnRegionReport(
        {target.name(), TransitionCode::kOpened, Encoded("t"), 9, pid, epoch, 1, "", ""},
        [&](Result<ReportAnswer> got) { answer = std::move(got); });
    cluster_.RunUntil([&] { return answer.has_value(); });
  };
  ask(transits[0], Epoch(master().epoch().value() - 1));
  EXPECT_FALSE(answer->ok());
  ask(transits[0], master().epoch());
  EXPECT_FALSE(answer->ok());
  ask(ProcId(INT64_MAX), master().epoch());  // no procedure waits for it: history
  ASSERT_TRUE(answer->ok());
  EXPECT_FALSE((*answer)->stale);
  target.ReleaseReports();
  ExpectServed("t", 1);
}

TEST_F(MasterTest, ReportsAreTakenOnlyFromTheAddressee) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  sim::SimServer& other = HostOf(Encoded("t"));
  target.hold_reports = 1;
  (void)Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  const auto orders = master().executor().FindUnfinished("OpenRegion");
  ASSERT_EQ(orders.size(), 1U);
  std::optional<ReportAnswer> answer;
  RegionReport report{other.name(), TransitionCode::kOpened, Encoded("t"), 9, orders[0], master().epoch(), 1, "", ""};
  const auto ask = [&] {
    answer.reset();
    master().logic().reports.OnRegionReport(report, [&](Result<ReportAnswer> got) { answer = std::move(got).value(); });
    cluster_.RunUntil([&] { return answer.has_value(); });
  };
  ask();
  EXPECT_TRUE(answer->stale);
  EXPECT_EQ(answer->expected_attempt, 1U);
  report.server = target.name();
  report.attempt = 7;
  ask();
  EXPECT_TRUE(answer->stale);
  report.attempt = 1;
  report.encoded_region = "1588230740";
  ask();
  EXPECT_TRUE(answer->stale);
  report.encoded_region = Encoded("t");
  report.code = TransitionCode::kClosed;
  ask();
  EXPECT_TRUE(answer->stale);
  report.code = TransitionCode::kOpened;
  ask();
  EXPECT_FALSE(answer->stale);
  ask();  // said twice
  EXPECT_FALSE(answer->stale);
  target.ReleaseReports();
  ExpectServed("t", 1);
}

TEST_F(MasterTest, RefusesWhatIsInTransitionOrUnknown) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.hold_reports = 1;
  (void)Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  EXPECT_NE(Outcome(Move(Encoded("t"))).find("in transition"), std::string::npos);
  EXPECT_EQ(Move("nonsense").error().remote_class(), "org.apache.hadoop.hbase.UnknownRegionException");
  EXPECT_FALSE(Unassign("hbase:meta,,1").ok());
  target.ReleaseReports();
  ExpectSettled();
}

// The first one releases the region while it waits between refusals. The second one took it, found it owned, and kept
// it, so that neither continued (found by the simulation).
TEST_F(MasterTest, TwoMovesOfARegionThatIsRefusedForAWhile) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 8;
  std::vector<Result<ProcId>> pids;
  for (int i = 0; i < 2; ++i) {
    admin().MoveRegion(Encoded("t"), {}, {"me", {}}, [&](Result<ProcId> pid) { pids.push_back(std::move(pid)); });
  }
  ASSERT_EQ(pids.size(), 2U);
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto info = master().executor().Get(*pids[1]);
    return info && info->last_error && info->last_error->message().find("in transition") != std::string::npos;
  })) << master().Unfinished();
  ExpectServed("t", 1);
  for (const auto& pid : pids) EXPECT_EQ(Outcome(pid), "success");
}

// Both procedures are admitted; DisableTable runs first.
TEST_F(MasterTest, AMoveThatMeetsADisablingSaysThatNothingMoved) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const ServerName target = OtherThan(HostOf(Encoded("t"))).name();
  std::vector<Result<ProcId>> pids;
  const auto note = [&](Result<ProcId> pid) { pids.push_back(std::move(pid)); };
  admin().DisableTable(TableName("default", "t"), {"me", {}}, note);
  admin().MoveRegion(Encoded("t"), {target}, {"me", {}}, note);
  ExpectSettled();
  ASSERT_EQ(pids.size(), 2U);
  for (const auto& pid : pids) EXPECT_EQ(Outcome(pid), "success");
  EXPECT_NE(master().executor().GetResult(*pids[1]).result.find("nothing moved"), std::string::npos);
  EXPECT_EQ(Regions("t")[0].state, RegionState::kClosed);
}

TEST_F(MasterTest, MoveThatEndsElsewhereNamesTheServer) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.refuse_opens = 1;
  const auto move = Move(Encoded("t"), target.name());
  ExpectSettled();
  EXPECT_NE(master().executor().GetResult(*move).result.find("not moved to " + target.name().ToString()),
            std::string::npos);
  const auto back = Move(Encoded("t"), target.name());
  ExpectSettled();
  EXPECT_EQ(master().executor().GetResult(*back).result, "");
}

TEST_F(MasterTest, NoServerThenOneComes) {
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunFor(Millis(500)));
  EXPECT_FALSE(master().ready());
  cluster_.AddServer("late");
  ExpectSettled();
}

// An earlier version stored the state REPORT_SUCCEED before it ended an order.
TEST_F(MasterTest, OrderThatAnEarlierVersionHasSettledEnds) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const auto moved = Move(Encoded("t"), OtherThan(HostOf(Encoded("t"))).name());
  procedure::ProcedureUpsert answered;
  ASSERT_TRUE(cluster_.RunUntil([&] {
    for (procedure::ProcedureUpsert& stored : cluster_.disk().Records()) {
      procedure::pb::ProcedureRecord record;
      pb::RegionOrderData data;
      EXPECT_TRUE(record.ParseFromString(stored.bytes));
      if (record.type() != "OpenRegion" || record.pid() < moved->value() || !data.ParseFromString(record.data()) ||
          !data.settled())
        continue;
      record.clear_result();  // this version stores the answer and the end together
      record.set_step(2);
      record.set_state(static_cast<std::uint32_t>(procedure::ProcState::kRunnable));
      answered = {stored.pid, stored.version, record.SerializeAsString()};
      return true;
    }
    return false;
  }));
  cluster_.KillMaster();
  {
    MutexLock lock(cluster_.disk().mutex);
    cluster_.disk().records[answered.pid] = answered;
  }
  cluster_.StartMaster();
  ExpectServed("t", 1);
  EXPECT_EQ(Outcome(moved), "success");
}

}  // namespace
}  // namespace ratchet::master
