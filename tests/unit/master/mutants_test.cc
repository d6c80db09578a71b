// Safety rules of the master. Each scenario runs with the rule and without it; without it, the test must detect the
// damage.
#include <fmt/format.h>

#include "common/base/mutant.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class MasterMutants : public MasterTest {
 protected:
  std::string Wrong() {
    if (!cluster_.Settle(Millis(20'000))) return "not at rest:\n" + master().Unfinished();
    return cluster_.CheckSettled();
  }

  // S17 (answer or fence settles an order). The region's new server opens it and accepts writes, but its answer does
  // not come.
  std::string AnAnswerIsWithheld() {
    cluster_.Boot(3);
    GivenTable("t", 1);
    const std::string encoded = Encoded("t");
    const ServerName source = HostOf(encoded).name();
    sim::SimServer* target = nullptr;
    for (sim::SimServer* server : cluster_.Alive()) {
      if (server->name() != source) server->hold_reports = 1;
    }
    (void)Move(encoded);
    EXPECT_TRUE(cluster_.RunUntil([&] {
      for (sim::SimServer* server : cluster_.Alive()) {
        if (server->IsOpen(encoded) && server->name() != source) target = server;
      }
      return target != nullptr;
    }));
    target->Write(encoded);
    master().logic().servers.SetDraining(target->name(), true);  // a transition that gives up chooses another server
    EXPECT_TRUE(cluster_.RunFor(cluster_.master_options.order_resend.Get() * 3));
    for (sim::SimServer* server : cluster_.Alive()) {
      server->hold_reports = 0;
      server->ReleaseReports();
    }
    return Wrong();
  }

  // S17. A server with an order to close a region dies, and its log takes a while to be split.
  std::string AServerDiesWithAnOrder() {
    cluster_.Boot(3);
    GivenTable("t", 1);
    sim::SimServer& host = HostOf(Encoded("t"));
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 2;
    host.order_time = Millis(60'000);
    (void)Move(Encoded("t"));
    EXPECT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("CloseRegion").empty(); }));
    EXPECT_TRUE(cluster_.RunFor(Millis(20)));
    EXPECT_TRUE(host.IsOpen(Encoded("t")));
    cluster_.Kill(host);
    EXPECT_TRUE(cluster_.RunFor(Millis(150)));
    return Wrong();
  }

  // S26 (split up to the seal). A server dies with acknowledged writes that are only in its log.
  std::string AServerDiesWithWrites() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    cluster_.Kill(OtherThan(MetaHost()));
    EXPECT_TRUE(cluster_.RunFor(Millis(150)));
    return Wrong();
  }

  // A server is marked crashed while its report is on the way. Returns whether its order's procedure has an answer
  // afterwards.
  std::string AReportOfTheDead() {
    cluster_.Boot(3);
    GivenTable("t", 1);
    sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
    target.hold_reports = 1;
    (void)Move(Encoded("t"), target.name());
    EXPECT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
    const auto orders = master().executor().FindUnfinished("OpenRegion");
    EXPECT_EQ(orders.size(), 1U);
    master().logic().server_manager.Expire(target.name(), "test");
    std::string taken;
    const RegionReport report{
        target.name(), TransitionCode::kOpened, Encoded("t"), 9, orders[0], master().epoch(), 1, "", ""};
    master().logic().reports.OnRegionReport(report, [&](const Result<ReportAnswer>& answer) {
      if (answer.ok()) taken = "taken";
    });
    const std::string wrong = Wrong();
    return wrong.empty() ? taken : wrong;
  }

  // S34 (which servers may be dead). The master is replaced, and no other process dies: all servers stay as they were.
  std::string AnotherMasterComes() {
    cluster_.Boot(3);
    GivenTable("t", 6);
    cluster_.StartMaster();
    std::string wrong = Wrong();
    for (sim::SimServer* server : cluster_.Alive()) {
      if (!master().logic().servers.IsOnline(server->name())) wrong += server->name().ToString() + " is not online\n";
    }
    if (cluster_.Alive().size() != 3) wrong += "a server had to go\n";
    return wrong;
  }

  // S34. A master died after it had fenced a server, before it did anything else.
  std::string AFencedDirectoryIsLeft() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    cluster_.KillMaster();
    cluster_.storage().logs[OtherThan(*cluster_.Alive().front()).name()].fenced = true;
    cluster_.StartMaster();
    return Wrong();
  }

  // S34. A region's recorded server no longer exists.
  std::string ARegionIsAtAGhost() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    const std::string encoded = Encoded("t");
    (void)Unassign(encoded);
    EXPECT_TRUE(cluster_.Settle());
    cluster_.KillMaster();
    RegionRow& row = cluster_.meta().mutable_regions().at(encoded);
    row.state = RegionState::kOpen;
    row.location = ServerName{"ghost", 1, 1};
    cluster_.StartMaster();
    return Wrong();
  }

  // S34. A server has made its logs when a new master looks which servers are alive, but is not in ZooKeeper yet.
  std::string AServerIsAboutToRegister() {
    cluster_.Boot(2);
    cluster_.KillMaster();
    const ServerName fresh{"fresh", 16020, 7};
    cluster_.storage().logs[fresh];
    cluster_.StartMaster();
    const std::string wrong = Wrong();
    const auto logs = cluster_.storage().logs.find(fresh);
    const bool alive = logs != cluster_.storage().logs.end() && !logs->second.fenced;
    return alive ? wrong : wrong + "the new server was treated as dead\n";
  }
  // The next scenario: a server registers while the master looks for dead servers.
  std::string AServerStartsMeanwhile() {
    cluster_.Boot(2);
    cluster_.KillMaster();
    sim::SimServer* fresh = nullptr;
    cluster_.storage().on_list_logs = [&] { fresh = &cluster_.AddServer("fresh"); };
    cluster_.StartMaster();
    EXPECT_TRUE(cluster_.RunUntil([&] { return fresh != nullptr && (fresh->registered || !fresh->alive()); }));
    const std::string wrong = Wrong();
    return fresh->alive() ? wrong : wrong + "the new server was treated as dead\n";
  }

  // S5 (rising start code). A server registers with a start code that its address has had before.
  std::string AnOldStartCodeComesBack() {
    cluster_.Boot(2);
    ServerName older = cluster_.Alive().front()->name();
    older.start_code -= 1;
    std::optional<Status> answer;
    master().logic().server_manager.Register(older, "x", [&](Status status) { answer = std::move(status); });
    EXPECT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
    return answer->ok() ? "taken" : "";
  }

  // S31 (names are never reused). A table is dropped, and another one of its name is made.
  std::string ATableComesBack() {
    cluster_.Boot(2);
    for (int i = 0; i < 2; ++i) {
      GivenTable("t", 2);
      (void)Disable("t");
      EXPECT_TRUE(cluster_.Settle());
      (void)Delete("t");
      EXPECT_TRUE(cluster_.Settle());
    }
    return Wrong();
  }
};

TEST_F(MasterMutants, DirectoriesAreNotReused) { EXPECT_EQ(ATableComesBack(), ""); }
TEST_F(MasterMutants, AnOrderIsNotSettledByTime) { EXPECT_EQ(AnAnswerIsWithheld(), ""); }
TEST_F(MasterMutants, AnOrderIsNotSettledByItsServersDeathAlone) { EXPECT_EQ(AServerDiesWithAnOrder(), ""); }
TEST_F(MasterMutants, RegionsAreAssignedAfterTheSplit) { EXPECT_EQ(AServerDiesWithWrites(), ""); }
TEST_F(MasterMutants, ReportsOfDeadServersAreIgnored) { EXPECT_EQ(AReportOfTheDead(), ""); }
TEST_F(MasterMutants, ServersOutliveTheirMaster) { EXPECT_EQ(AnotherMasterComes(), ""); }
TEST_F(MasterMutants, AFencedDirectoryIsTakenUp) { EXPECT_EQ(AFencedDirectoryIsLeft(), ""); }
TEST_F(MasterMutants, WhereAGhostIsTheRegionIsTakenBack) { EXPECT_EQ(ARegionIsAtAGhost(), ""); }
TEST_F(MasterMutants, StartingServerIsNotTreatedAsDead) { EXPECT_EQ(AServerStartsMeanwhile(), ""); }
TEST_F(MasterMutants, RegisteringServerIsNotTreatedAsDead) { EXPECT_EQ(AServerIsAboutToRegister(), ""); }
TEST_F(MasterMutants, AnOldStartCodeIsRefused) { EXPECT_EQ(AnOldStartCodeComesBack(), ""); }

#if defined(RATCHET_MUTANTS)
TEST_F(MasterMutants, SettlingByTimeIsCaught) {
  ExpectKilled(
      "master.settle_by_timeout", [&] { return AnAnswerIsWithheld(); }, "acknowledged is");
}
TEST_F(MasterMutants, SettlingAtTheCrashIsCaught) {
  ExpectKilled(
      "master.settle_at_crash", [&] { return AServerDiesWithAnOrder(); }, "acknowledged is");
}
TEST_F(MasterMutants, AssigningBeforeTheSplitIsCaught) {
  ExpectKilled(
      "master.assign_before_split", [&] { return AServerDiesWithWrites(); }, "acknowledged is");
}
TEST_F(MasterMutants, AcceptingReportsOfDeadServersIsCaught) {
  const ScopedMutant mutant("master.take_dead_reports");
  EXPECT_EQ(AReportOfTheDead(), "taken");
}
TEST_F(MasterMutants, ReusingADirectoryIsCaught) {
  ExpectKilled(
      "master.reuse_directory", [&] { return ATableComesBack(); }, "came back");
}
TEST_F(MasterMutants, ForgettingTheRecordsIsCaught) {
  ExpectKilled(
      "master.ignore_records", [&] { return AnotherMasterComes(); }, "is not online");
}
TEST_F(MasterMutants, OverlookingDirectoriesIsCaught) {
  ExpectKilled(
      "master.ignore_directories", [&] { return AFencedDirectoryIsLeft(); }, "fenced logs of");
}
TEST_F(MasterMutants, BelievingLocationsIsCaught) {
  ExpectKilled(
      "master.ignore_locations", [&] { return ARegionIsAtAGhost(); }, "should be at ghost,1,1");
}
TEST_F(MasterMutants, ExpiringTheUnregisteredIsCaught) {
  ExpectKilled(
      "master.expire_unregistered", [&] { return AServerIsAboutToRegister(); }, "the new server was treated as dead");
}
TEST_F(MasterMutants, TakingAnyStartCodeIsCaught) {
  const ScopedMutant mutant("master.any_start_code");
  EXPECT_EQ(AnOldStartCodeComesBack(), "taken");
}
#endif

}  // namespace
}  // namespace ratchet::master
