// AssignBatch opens many regions of a server at once, S172 (one number for a batch).
#include <algorithm>

#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/master_env.h"
#include "procedure/api/executor.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class AssignBatchTest : public MasterTest {
 protected:
  void Boot(int servers) {
    cluster_.master_options.batch_least = 2;
    cluster_.Boot(servers);
  }
  std::vector<ProcId> Batches() { return master().executor().FindUnfinished("AssignBatch"); }
  std::vector<ProcId> Transitions() { return master().executor().FindUnfinished("TransitRegionState"); }
  std::string Wrong() {
    if (!cluster_.Settle(Millis(120'000))) return "not at rest:\n" + master().Unfinished();
    cluster_.WriteEverywhere();
    return cluster_.CheckSettled();
  }
  std::size_t OpenAt(const sim::SimServer& server, const std::string& table) {
    const auto regions = Regions(table);
    return static_cast<std::size_t>(std::count_if(regions.begin(), regions.end(), [&](const RegionNode& node) {
      return server.IsOpen(node.info.encoded_name());
    }));
  }
  void Pause(const char* type) {
    bool paused = false;
    master().executor().Pause(procedure::PauseScope::Type(type), {"op", "test"}, Millis(1'000),
                              [&](const Result<procedure::PauseReport>& report) { paused = report.ok(); });
    EXPECT_TRUE(cluster_.RunUntil([&] { return paused; }));
  }
  void Resume(const char* type) {
    bool resumed = false;
    master().executor().Resume(procedure::PauseScope::Type(type), {"op", "test"},
                               [&](const Status& status) { resumed = status.ok(); });
    EXPECT_TRUE(cluster_.RunUntil([&] { return resumed; }));
  }

  // A server has opened its regions, and does not report it for a long time.
  std::string AServerIsSilent() {
    Boot(3);
    sim::SimServer& silent = OtherThan(MetaHost());
    silent.hold_reports = 1'000;
    (void)Create("t", 12);
    EXPECT_TRUE(cluster_.RunUntil([&] { return OpenAt(silent, "t") == 4; }));
    cluster_.WriteEverywhere();
    master().logic().servers.SetDraining(silent.name(), true);  // a transition would choose another server
    EXPECT_TRUE(cluster_.RunFor(cluster_.master_options.order_resend.Get() * 3));
    silent.hold_reports = 0;
    silent.ReleaseReports();
    master().logic().servers.SetDraining(silent.name(), false);
    return Wrong();
  }

  // A server opens one region of its batch, and refuses two others.
  std::string SomeAreRefused() {
    Boot(2);
    sim::SimServer& server = OtherThan(MetaHost());
    server.order_time = Millis(100);  // so that no report has all answers
    server.hold_reports = 1'000;
    (void)Create("t", 12);
    EXPECT_TRUE(cluster_.RunUntil([&] { return OpenAt(server, "t") == 1; }));
    server.refuse_opens = 2;
    server.hold_reports = 0;
    server.ReleaseReports();
    return Wrong();
  }

  // While a batch waits for its turn, an operator opens one of its regions and closes it. The only server remembers the
  // higher number of that opening.
  std::string AnotherOpensMeanwhile() {
    Boot(1);
    Pause("AssignBatch");
    (void)Create("t", 4);
    EXPECT_TRUE(cluster_.RunUntil([&] { return Batches().size() == 1; }));
    const std::string first = Encoded("t");
    bool submitted = false;
    master().executor().SubmitAsync(TransitRegionState::Assign(Regions("t")[0].info, {}), {},
                                    [&](const Result<ProcId>& pid) { submitted = pid.ok(); });
    EXPECT_TRUE(cluster_.RunUntil([&] { return submitted && Transitions().empty(); }));
    EXPECT_TRUE(cluster_.Alive().front()->IsOpen(first));
    const auto closed = Unassign(first);
    EXPECT_TRUE(cluster_.RunUntil([&] { return Outcome(closed) == "success"; }));
    Resume("AssignBatch");
    return Wrong();
  }

  // The rows of a part are written while further reports come.
  std::string RegionsHaveLongKeys() {
    Boot(1);
    std::vector<std::string> keys;
    for (char first = 'b'; first <= 'z'; ++first) keys.push_back(first + std::string(30'000, 'k'));
    (void)master().Ask([&](Done done) { admin().CreateTable(Descriptor("t"), keys, {"me", {}}, done); });
    EXPECT_TRUE(cluster_.RunUntil([&] { return Batches().size() >= 2; }));
    return Wrong();
  }

  // The server of a batch ends after its regions are shown as open and before the batch releases them.
  std::string ABatchMeetsACrash() {
    Boot(3);
    sim::SimServer& target = OtherThan(MetaHost());
    bool met = false;
    cluster_.on_point = [&](sim::SimMaster& at) {
      if (met) return;
      const auto regions = at.logic().regions.OnServer(target.name());
      const bool shown = std::any_of(regions.begin(), regions.end(), [](const RegionNode& node) {
        return node.state == RegionState::kOpen && node.owner.valid();
      });
      if (!shown) return;
      met = true;
      cluster_.WriteEverywhere();
      cluster_.Kill(target);
      at.logic().server_manager.Expire(target.name(), "dies in the middle of a step");
      (void)cluster_.RunUntil([&] { return at.logic().servers.PhaseOf(target.name()) != ServerPhase::kCrashed; });
    };
    (void)Create("t", 12);
    (void)cluster_.RunUntil([&] { return met; });
    cluster_.on_point = nullptr;
    return met ? Wrong() : "that never happened";
  }
};

TEST_F(AssignBatchTest, OpensATableWithFewCommits) {
  Boot(3);
  const std::uint64_t before = cluster_.disk().CommitCount();
  GivenTable("t", 24);
  const std::uint64_t commits = cluster_.disk().CommitCount() - before;
  EXPECT_LT(commits, 40U) << "with a transition for each region there are more than a hundred";
  ExpectServed("t", 24);
}

TEST_F(AssignBatchTest, FewRegionsHaveTransitions) {
  cluster_.Boot(3);
  (void)Create("t", 12);
  ASSERT_TRUE(cluster_.RunUntil([&] { return !Transitions().empty(); }));
  EXPECT_TRUE(Batches().empty());
  ExpectSettled();
}

// The order of a batch is one message, and its record one record.
TEST_F(AssignBatchTest, RegionsWithLongKeysHaveSmallBatches) { EXPECT_EQ(RegionsHaveLongKeys(), ""); }

// Clients find a region that is open, although another one of its batch is not.
TEST_F(AssignBatchTest, OpenRegionsAreShownBeforeAllHaveAnswers) {
  Boot(1);
  sim::SimServer& server = *cluster_.Alive().front();
  (void)Create("t", 6);
  ASSERT_TRUE(cluster_.RunUntil([&] { return !Batches().empty(); }));
  server.hold_reports = 2;
  ASSERT_TRUE(cluster_.RunUntil([&] { return OpenAt(server, "t") == 6; }));
  ASSERT_TRUE(cluster_.RunFor(Millis(3'000)));
  ASSERT_EQ(Batches().size(), 1U);
  std::size_t shown = 0;
  for (const RegionNode& node : Regions("t"))
    shown += cluster_.meta().regions().at(node.encoded).state == RegionState::kOpen ? 1 : 0;
  EXPECT_GE(shown, 1U);
  EXPECT_LT(shown, 6U);
  server.hold_reports = 0;
  server.ReleaseReports();
  ExpectSettled();
}

// S118 (older copy stays closed)
TEST_F(AssignBatchTest, AMasterThatHasAnOlderStoreEnds) {
  Boot(2);
  GivenTable("t", 6);
  (void)Disable("t");
  ExpectSettled();
  std::string went_back;
  master().logic().env.went_back = [&](const Error& error) { went_back = error.ToString(); };
  cluster_.storage().went_back = true;
  const RegionNode node = Regions("t")[0];
  cluster_.storage().regions.at(node.encoded).open_number = node.issued + 1;  // by a master that this one never knew
  (void)Enable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return !went_back.empty(); }));
  EXPECT_NE(went_back.find(node.encoded), std::string::npos) << went_back;
}

TEST_F(AssignBatchTest, AnEnabledTableReturnsToItsServers) {
  Boot(3);
  GivenTable("t", 12);
  std::map<std::string, ServerName> hosts;
  for (const RegionNode& node : Regions("t")) hosts[node.encoded] = *node.location;
  (void)Disable("t");
  ExpectSettled();
  (void)Enable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return !Batches().empty(); }));
  ExpectServed("t", 12);
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(hosts[node.encoded], *node.location);
}

TEST_F(AssignBatchTest, ADeadServersRegionsOfAllTablesAreOpened) {
  Boot(3);
  for (const char* table : {"t", "u", "v"}) GivenTable(table, 6);
  cluster_.Kill(OtherThan(MetaHost()));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !Batches().empty(); }));
  for (const char* table : {"t", "u", "v"}) ExpectServed(table, 6);
}

TEST_F(AssignBatchTest, ItsServerDies) {
  Boot(3);
  sim::SimServer& target = OtherThan(MetaHost());
  target.hold_reports = 2;
  (void)Create("t", 12);
  ASSERT_TRUE(cluster_.RunUntil([&] { return OpenAt(target, "t") == 4; }));
  cluster_.WriteEverywhere();
  cluster_.Kill(target);
  EXPECT_EQ(Wrong(), "");
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kOpen);
}

// The answers that the first master took are durable, and the second asks for the rest.
TEST_F(AssignBatchTest, AMasterDiesBetweenTwoReports) {
  Boot(1);
  sim::SimServer& server = *cluster_.Alive().front();
  (void)Create("t", 8);
  server.hold_reports = 3;
  ASSERT_TRUE(cluster_.RunUntil([&] { return OpenAt(server, "t") == 8; }));
  ASSERT_TRUE(cluster_.RunFor(Millis(100)));
  ASSERT_EQ(Batches().size(), 1U);
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  server.ReleaseReports();
  cluster_.WriteEverywhere();
  ExpectServed("t", 8);
}

// S93 (transition without a row ends): the batch cannot ask for the answers that are missing, and ends.
TEST_F(AssignBatchTest, ItsTableIsGone) {
  Boot(3);
  GivenTable("t", 12);
  GivenTable("u", 1);  // an hbase:meta without any table would change nothing (S115: missing row is not evidence)
  const std::string other = Encoded("u");
  cluster_.Kill(OtherThan(MetaHost()));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !Batches().empty(); }));
  for (sim::SimServer* server : cluster_.Alive()) server->hold_reports = 1;
  ASSERT_TRUE(cluster_.RunFor(Millis(100)));
  ASSERT_FALSE(Batches().empty());
  cluster_.KillMaster();
  cluster_.meta().mutable_tables().erase(TableName("default", "t"));
  cluster_.StartMaster();
  for (sim::SimServer* server : cluster_.Alive()) {
    server->hold_reports = 0;
    if (server->IsOpen(other)) server->ReleaseReports();
  }
  EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
}

TEST_F(AssignBatchTest, AnUnsettledBatchIsNotBypassed) {
  Boot(1);
  sim::SimServer& server = *cluster_.Alive().front();
  server.hold_reports = 1'000;
  (void)Create("t", 4);
  ASSERT_TRUE(cluster_.RunUntil([&] { return OpenAt(server, "t") == 4; }));
  std::optional<Status> answer;
  master().executor().Bypass(Batches().at(0), true, {"op", "stuck"}, [&](const Status& status) { answer = status; });
  ASSERT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
  EXPECT_NE(answer->error().message().find("is not settled"), std::string::npos);
  server.hold_reports = 0;
  server.ReleaseReports();
  ExpectSettled();
}

TEST_F(AssignBatchTest, DoesNotEndWithoutAnAnswer) { EXPECT_EQ(AServerIsSilent(), ""); }
TEST_F(AssignBatchTest, RefusedRegionsHaveTransitions) { EXPECT_EQ(SomeAreRefused(), ""); }
TEST_F(AssignBatchTest, LeavesARegionThatAnotherHasOpenedMeanwhile) { EXPECT_EQ(AnotherOpensMeanwhile(), ""); }
TEST_F(AssignBatchTest, HandlesTheCrashOfItsServer) { EXPECT_EQ(ABatchMeetsACrash(), ""); }

#if defined(RATCHET_MUTANTS)
TEST_F(AssignBatchTest, EndingWithoutAnAnswerIsNoticed) {
  ExpectKilled(
      "batch.end_without_answer", [&] { return AServerIsSilent(); }, "acknowledged is");
}
TEST_F(AssignBatchTest, OneAnswerForAllIsNoticed) {
  ExpectKilled(
      "batch.one_for_all", [&] { return SomeAreRefused(); }, "is at 0 servers");
}
TEST_F(AssignBatchTest, AnUnprovenNumberIsNoticed) {
  ExpectKilled(
      "batch.number_unproven", [&] { return AnotherOpensMeanwhile(); }, "not at rest");
}
TEST_F(AssignBatchTest, ShowingUnwrittenRowsIsNoticed) {
  ExpectKilled(
      "batch.show_unwritten", [&] { return RegionsHaveLongKeys(); }, "in meta");
}
TEST_F(AssignBatchTest, NoSecondLookIsNoticed) {
  ExpectKilled(
      "batch.no_second_look", [&] { return ABatchMeetsACrash(); }, "is at 0 servers");
}
#endif

}  // namespace
}  // namespace ratchet::master
