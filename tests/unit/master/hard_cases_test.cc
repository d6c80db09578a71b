// Hard cases that no other test here covers (docs/hard-cases.md has all of them). Each first checks that its trigger
// has fired, then the end: region and meta (CheckSettled), store (no procedure is left), client (every region accepts a
// write, and every acknowledged one exists).
#include <fmt/format.h>

#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class HardCases : public MasterTest {
 protected:
  // The server that an unfinished procedure of this type, described with `with`, waits for.
  sim::SimServer* Addressee(const std::string& type, const std::string& with) {
    for (const ProcId pid : master().executor().FindUnfinished(type)) {
      const auto info = master().executor().Get(pid);
      if (!info || info->waiting.kind != procedure::WaitingOn::Kind::kEvent) continue;
      if (info->description.text().find(with) == std::string::npos) continue;
      for (sim::SimServer* server : cluster_.Alive()) {
        if (info->description.text().find("=" + server->name().ToString()) != std::string::npos) return server;
      }
    }
    return nullptr;
  }
  std::size_t Openings(const std::string& encoded) {
    std::size_t count = 0;
    for (const std::string& line : cluster_.trace())
      count += line.find("opened " + encoded) != std::string::npos ? 1 : 0;
    return count;
  }
};

TEST_F(HardCases, TheSplitterOfMetasLogDies) {
  cluster_.Boot(4);
  GivenTable("t", 6);
  for (sim::SimServer* server : cluster_.Alive()) server->hold_reports = 1;
  cluster_.Kill(MetaHost());
  sim::SimServer* splitter = nullptr;
  ASSERT_TRUE(cluster_.RunUntil([&] { return (splitter = Addressee("SplitWalRemote", sim::kMetaLog)) != nullptr; }));
  cluster_.Kill(*splitter);
  for (sim::SimServer* server : cluster_.Alive()) {
    server->hold_reports = 0;
    server->ReleaseReports();
  }
  ExpectServed("t", 6);
}

TEST_F(HardCases, MetasNextServerDiesWhileItOpensIt) {
  cluster_.Boot(4);
  GivenTable("t", 6);
  for (sim::SimServer* server : cluster_.Alive()) server->order_time = Millis(100);
  cluster_.Kill(MetaHost());
  sim::SimServer* next = nullptr;
  ASSERT_TRUE(
      cluster_.RunUntil([&] { return (next = Addressee("OpenRegion", std::string(kMetaEncodedName))) != nullptr; }));
  ASSERT_FALSE(next->IsOpen(std::string(kMetaEncodedName)));
  cluster_.Kill(*next);
  ExpectServed("t", 6);
}

TEST_F(HardCases, AllServersButOneDie) {
  cluster_.Boot(4);
  GivenTable("t", 8);
  sim::SimServer* survivor = cluster_.Alive().back();
  for (sim::SimServer* server : cluster_.Alive()) {
    if (server != survivor) cluster_.Kill(*server);
  }
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("ServerCrash").size() == 3; }));
  ExpectServed("t", 8);
  EXPECT_EQ(survivor->regions().size(), 9U);  // and hbase:meta
}

// A master dies when it enters each step of its start-up, with a crash procedure and a region's move to resume.
TEST_F(HardCases, MastersThatDieAtEachStepOfTheStartUp) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  int steps = 0;
  for (auto fatal = ActivationStep::kClaimStore; ActivationStepName(fatal) != "?";
       fatal = static_cast<ActivationStep>(static_cast<int>(fatal) + 1), ++steps) {
    SCOPED_TRACE(std::string(ActivationStepName(fatal)));
    (void)Move(Encoded("t"));
    cluster_.Kill(OtherThan(MetaHost()));
    cluster_.AddServer("fresh");
    bool fired = false;
    cluster_.on_activation = [&](sim::SimMaster& starting, ActivationStep step) {
      if (step != fatal || fired) return;
      fired = true;
      starting.store().Die();
    };
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.RunUntil([&] { return fired; }));
    ASSERT_TRUE(master().dead());
    cluster_.on_activation = nullptr;
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.RunFor(Millis(150)));
    ExpectServed("t", 6);
  }
  EXPECT_GE(steps, 7);
}

// The region has left the server before it dies; its crash procedure must not assign it a second time.
TEST_F(HardCases, ARegionThatWasMovedOffBeforeTheCrash) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  sim::SimServer& source = HostOf(encoded);
  sim::SimServer& target = OtherThan(source);
  const std::size_t openings = Openings(encoded);
  target.order_time = Millis(2000);
  (void)Move(encoded, target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return Addressee("OpenRegion", encoded) == &target; }));
  ASSERT_FALSE(source.IsOpen(encoded));
  cluster_.Kill(source);
  ASSERT_TRUE(
      cluster_.RunUntil([&] { return cluster_.storage().archived.contains("wals/" + source.name().ToString()); }));
  ExpectServed("t", 1);
  EXPECT_TRUE(target.IsOpen(encoded));
  EXPECT_EQ(Openings(encoded), openings + 1);
}

// The region leaves the dead server through its own move, while the crash procedure is running: one opening, not two.
TEST_F(HardCases, ARegionWhoseMoveMeetsTheCrash) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  sim::SimServer& source = HostOf(encoded);
  source.cut_off = true;
  const auto pid = Move(encoded);
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("CloseRegion").empty(); }));
  const std::size_t openings = Openings(encoded);
  cluster_.Kill(source);
  ExpectServed("t", 1);
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_EQ(Openings(encoded), openings + 1);
}

TEST_F(HardCases, AReportThatADeposedMasterAnswersIsNotTaken) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  sim::SimServer& target = OtherThan(HostOf(encoded));
  target.hold_reports = 1;
  (void)Move(encoded, target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(encoded); }));
  sim::SimMaster& old = master();
  const ProcId order = old.executor().FindUnfinished("OpenRegion").at(0);
  cluster_.StartMaster({}, /*keep_old=*/true);
  std::optional<Result<ReportAnswer>> answer;
  old.logic().reports.OnRegionReport(
      {target.name(), TransitionCode::kOpened, encoded, 9, order, old.epoch(), 1, "", ""},
      [&](Result<ReportAnswer> got) { answer = std::move(got); });
  ASSERT_TRUE(cluster_.RunFor(Millis(50)));
  EXPECT_FALSE(answer && answer->ok()) << "a deposed master took a report";
  target.ReleaseReports();
  cluster_.DropOldMasters();
  ExpectServed("t", 1);
  EXPECT_TRUE(target.IsOpen(encoded));
}

TEST_F(HardCases, AReportOfAnOrderThatIsLongSettledChangesNothing) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  const ServerName source = HostOf(encoded).name();
  (void)Move(encoded);
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("CloseRegion").empty(); }));
  const ProcId stale = master().executor().FindUnfinished("CloseRegion").at(0);
  ExpectSettled();
  std::optional<Result<ReportAnswer>> answer;
  master().logic().reports.OnRegionReport(
      {source, TransitionCode::kClosed, encoded, 0, stale, master().epoch(), 1, "", ""},
      [&](Result<ReportAnswer> got) { answer = std::move(got); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
  ASSERT_TRUE(answer->ok());
  EXPECT_FALSE((*answer)->stale);  // the server may stop reporting it
  ExpectServed("t", 1);
}

// A master was paused before it sent an order to open the region; the region has been moved twice since.
TEST_F(HardCases, AnOrderThatIsDelayedBeyondTheRegionsNextMoves) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const std::string encoded = Encoded("t");
  sim::SimServer& home = HostOf(encoded);
  const RegionNode first = Regions("t")[0];
  OpenOrder late;
  late.id = {first.open_number, 1};
  late.region = first.info;
  late.open_number = first.open_number.value();
  late.table_directory = master().logic().tables.Get(first.info.table)->directory;
  late.schema = master().logic().tables.Get(first.info.table)->schema;
  const Epoch paused = master().epoch();
  (void)Move(encoded, OtherThan(home).name());
  ExpectServed("t", 1);
  ASSERT_FALSE(home.IsOpen(encoded));
  const auto refusals = [&] {
    std::size_t count = 0;
    for (const std::string& line : cluster_.trace()) count += line.find("refuses order") != std::string::npos ? 1 : 0;
    return count;
  };
  ASSERT_EQ(refusals(), 0U);
  home.Receive(paused, Order(late));  // before the server has received anything from a younger master: the order's
                                      // number decides
  EXPECT_EQ(refusals(), 1U);
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  (void)Move(encoded, home.name());
  ExpectServed("t", 1);
  (void)Move(encoded, OtherThan(home).name());
  ExpectServed("t", 1);
  home.Receive(paused, Order(late));  // and after that: its epoch, too
  ASSERT_TRUE(cluster_.RunFor(Millis(100)));
  EXPECT_FALSE(home.IsOpen(encoded));
  ExpectServed("t", 1);
}

// Every ordinary worker is stuck in some step: the reserved capacity alone recovers meta.
TEST_F(HardCases, AllWorkersAreBusyWhileMetasServerCrashes) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  const auto other = Create("u", 2);
  const auto before = master().executor().Get(*other);
  cluster_.ordinary_workers_stuck = true;
  const ServerName dead = MetaHost().name();
  cluster_.Kill(MetaHost());
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto where = master().logic().regions.MetaLocation();
    return where && *where != dead;
  })) << master().Unfinished();
  EXPECT_TRUE(MetaHost().IsOpen(std::string(kMetaEncodedName)));
  EXPECT_EQ(master().executor().Get(*other)->step_name, before->step_name) << "ordinary work continued";
  cluster_.ordinary_workers_stuck = false;
  ExpectServed("t", 6);
  EXPECT_EQ(Outcome(other), "success");
}

TEST_F(HardCases, AServerWithAThousandRegionsAndTwentyLogs) {
  constexpr int kRegions = 1000;
  constexpr std::size_t kLogs = 20;
  cluster_.Boot(1);
  std::vector<std::string> keys;
  for (int i = 1; i < kRegions; ++i) keys.push_back(fmt::format("{:04}", i));
  const auto pid = master().Ask([&](Done done) { admin().CreateTable(Descriptor("t"), keys, {"me", {}}, done); });
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  ASSERT_EQ(Outcome(pid), "success");
  cluster_.WriteEverywhere();
  sim::SimServer& victim = *cluster_.Alive().front();
  ASSERT_EQ(victim.regions().size(), kRegions + 1U);
  cluster_.storage().logs[victim.name()].user_logs = kLogs;
  for (int i = 0; i < 3; ++i) cluster_.AddServer("next" + std::to_string(i));
  cluster_.Kill(victim);
  std::size_t splits = 0;
  ASSERT_TRUE(cluster_.RunUntil([&] {
    splits = std::max(splits, master().executor().FindUnfinished("SplitWal").size());
    return splits >= kLogs;
  })) << splits;
  ExpectServed("t", kRegions);
  for (sim::SimServer* server : cluster_.Alive())
    EXPECT_GT(server->regions().size(), 250U) << server->name().ToString();
}

}  // namespace
}  // namespace ratchet::master
