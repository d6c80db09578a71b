#include <atomic>
#include <thread>

// Region servers die: alone, with meta, several at once, during other work; or are only believed dead.
#include "master/repair/reconciler.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

TEST_F(MasterTest, RegionsOfADeadServerAreServedElsewhereWithAllTheirWrites) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& victim = OtherThan(MetaHost());
  cluster_.Kill(victim);
  ASSERT_TRUE(cluster_.RunFor(Millis(150)));
  ExpectServed("t", 6);
  EXPECT_FALSE(master().logic().servers.PhaseOf(victim.name()).has_value());
  EXPECT_TRUE(cluster_.storage().archived.contains("wals/" + victim.name().ToString()));
}

TEST_F(MasterTest, TheServerWithMetaDies) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  cluster_.Kill(MetaHost());
  ASSERT_TRUE(cluster_.RunFor(Millis(150)));
  ExpectServed("t", 6);
}

TEST_F(MasterTest, AllServersDieAndOthersCome) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  for (sim::SimServer* server : cluster_.Alive()) cluster_.Kill(*server);
  ASSERT_TRUE(cluster_.RunFor(Millis(300)));
  cluster_.AddServer("rs1");
  cluster_.AddServer("rs2");
  ExpectServed("t", 6);
}

// Otherwise each procedure waits for its delay, which has grown meanwhile.
TEST_F(MasterTest, WhatCouldNotBeWrittenIsWrittenAsSoonAsMetaIsOpenAgain) {
  cluster_.Boot(1);
  GivenTable("t", 1);
  ASSERT_EQ(Outcome(Disable("t")), "unfinished");
  ExpectSettled();
  cluster_.Kill(MetaHost());
  const auto enabled = Enable("t");
  ASSERT_TRUE(cluster_.RunFor(Millis(20'000)));
  const auto info = master().executor().Get(*enabled);
  ASSERT_TRUE(info.has_value());
  ASSERT_EQ(info->waiting.kind, procedure::WaitingOn::Kind::kRetry);
  ASSERT_GT(info->attempt, 5U);
  cluster_.AddServer("rs1");
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto meta = master().logic().regions.Get(std::string(kMetaEncodedName));
    return meta && meta->state == RegionState::kOpen;
  }));
  ASSERT_TRUE(cluster_.RunFor(Millis(50)));
  EXPECT_LT(master().executor().Get(*enabled)->attempt, 3U);
  ExpectSettled();
  EXPECT_EQ(Outcome(enabled), "success");
}

TEST_F(MasterTest, MasterAndTheServerWithMetaDieTogether) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  cluster_.Kill(MetaHost());
  cluster_.KillMaster();
  ASSERT_TRUE(cluster_.RunFor(Millis(150)));
  cluster_.StartMaster();
  ExpectServed("t", 6);
}

// Chaos found it: a master that loads meta slowly treated every region that a heartbeat lists as unknown.
TEST_F(MasterTest, HeartbeatsContradictNothingBeforeMetaIsLoaded) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& other = OtherThan(MetaHost());
  cluster_.Kill(MetaHost());  // so that meta cannot be loaded before that is noticed
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunFor(Millis(20)));
  ASSERT_FALSE(master().logic().ready());
  ASSERT_EQ(master().logic().servers.PhaseOf(other.name()), ServerPhase::kOnline);
  std::vector<OnlineRegion> online;
  for (const auto& [encoded, region] : other.regions()) online.push_back({encoded, region.open_number});
  ASSERT_FALSE(online.empty());
  for (int heartbeat = 0; heartbeat < 5; ++heartbeat) master().logic().reconciler.OnHeartbeat(other.name(), online);
  EXPECT_EQ(master().logic().servers.PhaseOf(other.name()), ServerPhase::kOnline);
  ExpectServed("t", 6);
}

TEST_F(MasterTest, AllServersDieAndOneNeverReturns) {
  cluster_.Boot(2);
  GivenTable("t", 4);
  cluster_.KillMaster();
  for (sim::SimServer* server : cluster_.Alive()) cluster_.Kill(*server);
  ASSERT_TRUE(cluster_.RunFor(Millis(150)));
  cluster_.AddServer("rs1");
  cluster_.StartMaster();
  ExpectServed("t", 4);
}

TEST_F(MasterTest, AServerThatOpensARegionDies) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.hold_reports = 1;
  (void)Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  target.Write(Encoded("t"));  // acknowledged, although the master does not know that it is open
  cluster_.Kill(target);
  ExpectServed("t", 1);
  EXPECT_NE(Regions("t")[0].location, target.name());
}

// An interrupted close is opened again first, so that the recovered edits are replayed; then it is closed.
TEST_F(MasterTest, AServerThatClosesARegionDies) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  sim::SimServer& host = HostOf(Encoded("t"));
  const std::string encoded = Encoded("t");
  host.cut_off = true;  // the order to close does not arrive
  const auto pid = Unassign(encoded);
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].state == RegionState::kClosing; }));
  host.Write(encoded);
  cluster_.Kill(host);
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_EQ(Regions("t")[0].state, RegionState::kClosed);
  // The write is in a file now, not only among recovered edits.
  EXPECT_EQ(cluster_.storage().regions[encoded].flushed, cluster_.storage().acknowledged[encoded]);
}

TEST_F(MasterTest, AnswersNoRpcButKeepsItsSession) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& deaf = OtherThan(MetaHost());
  deaf.cut_off = true;
  std::string encoded;
  for (const RegionNode& node : Regions("t")) {
    if (node.location == deaf.name()) encoded = node.info.encoded_name();
  }
  ASSERT_FALSE(encoded.empty());
  (void)Move(encoded);
  ExpectServed("t", 3);
  EXPECT_FALSE(master().logic().servers.IsOnline(deaf.name()));
}

TEST_F(MasterTest, APausedServerFindsItselfFenced) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& paused = OtherThan(MetaHost());
  const std::string region = paused.regions().begin()->first;
  paused.Pause();
  cluster_.SessionEnds(paused.name(), Millis(0));
  ASSERT_TRUE(cluster_.RunFor(Millis(50)));
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  cluster_.WriteEverywhere();
  paused.Resume();
  paused.Write(region);
  EXPECT_FALSE(paused.alive());
  ExpectServed("t", 3);
}

// No report of a server counts from the moment on which it is marked crashed.
TEST_F(MasterTest, AReportOfADeadServerThatArrivesLate) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  sim::SimServer& target = OtherThan(HostOf(Encoded("t")));
  target.hold_reports = 1;
  (void)Move(Encoded("t"), target.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return target.IsOpen(Encoded("t")); }));
  master().logic().server_manager.Expire(target.name(), "test");
  target.ReleaseReports();
  ASSERT_TRUE(cluster_.RunFor(Millis(30)));
  EXPECT_FALSE(target.alive());
  ExpectServed("t", 1);
  EXPECT_NE(Regions("t")[0].location, target.name());
}

TEST_F(MasterTest, TheSplitterDies) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& victim = OtherThan(MetaHost());
  for (sim::SimServer* server : cluster_.Alive()) server->hold_reports = 1;
  cluster_.Kill(victim);
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("SplitWalRemote").empty(); }));
  ASSERT_TRUE(cluster_.RunFor(Millis(20)));
  const auto splits = master().executor().FindUnfinished("SplitWalRemote");
  ASSERT_EQ(splits.size(), 1U);
  const std::string description = master().executor().Get(splits[0])->description.text();
  for (sim::SimServer* server : cluster_.Alive()) {
    if (description.find("worker=" + server->name().ToString()) != std::string::npos) cluster_.Kill(*server);
  }
  for (sim::SimServer* server : cluster_.Alive()) {
    server->hold_reports = 0;
    server->ReleaseReports();
  }
  ExpectServed("t", 6);
}

TEST_F(MasterTest, ASplitThatIsRefusedIsTriedElsewhere) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& victim = OtherThan(MetaHost());
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 2;
  cluster_.Kill(victim);
  ASSERT_TRUE(cluster_.RunFor(Millis(150)));
  ExpectServed("t", 3);
}

TEST_F(MasterTest, AYoungerServerAtTheSameAddressExpiresTheOlderOne) {
  cluster_.Boot(2);
  GivenTable("t", 4);
  sim::SimServer& old = OtherThan(MetaHost());
  cluster_.options().session = Millis(100'000);  // ZooKeeper would wait too long
  const std::string host = old.name().host;
  cluster_.Kill(old);
  sim::SimServer& young = cluster_.AddServer(host);
  ASSERT_TRUE(cluster_.RunUntil([&] { return young.registered; }));
  ExpectServed("t", 4);
  EXPECT_FALSE(master().logic().servers.PhaseOf(old.name()).has_value());
}

TEST_F(MasterTest, AStartCodeThatIsNotAboveTheRecordIsRefused) {
  cluster_.Boot(2);
  const ServerName current = cluster_.Alive().front()->name();
  std::optional<Status> answer;
  ServerName older = current;
  older.start_code -= 1;
  master().logic().server_manager.Register(older, "x", [&](Status status) { answer = std::move(status); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->error().remote_class(), "org.apache.hadoop.hbase.YouAreDeadException");
  // The next master, which knows the server only from its records, refuses it too, even if the server ended long ago.
  cluster_.Kill(*cluster_.Find(current));
  ASSERT_TRUE(cluster_.RunFor(Millis(150)));
  ASSERT_TRUE(cluster_.Settle());
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  answer.reset();
  master().logic().server_manager.Register(current, "x", [&](Status status) { answer = std::move(status); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->error().remote_class(), "org.apache.hadoop.hbase.YouAreDeadException");
}

// S89 (start-code floor): records of start codes are bounded, and forgotten ones stay barred.
class StartCodesTest : public MasterTest {
 protected:
  static ServerName Old(std::size_t i, std::uint64_t code) { return {"old-" + std::to_string(i), 1, code}; }
  // More addresses than are kept, in memory and not in a record; then another server registers, and some are forgotten.
  void GivenMoreThanAreKept() {
    cluster_.Boot(2);
    for (std::size_t i = 0; i < Registrations::kStartCodesKept; ++i) {
      master().logic().registrations.RaiseStartCode(Old(i, 1 + i % 2));
    }
    GivenAnotherServer();
  }
  void GivenAnotherServer() {
    const std::size_t before = master().logic().servers.Online().size();
    cluster_.AddServer("another");
    ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().servers.Online().size() > before; }));
    ASSERT_TRUE(cluster_.Settle());
  }
  std::string Floor() {
    const auto records = master().executor().SystemRecords();
    const auto floor = records.find(std::string(kStartCodeFloorRecord));
    return floor == records.end() ? "none" : floor->second;
  }
  bool MayRegister(const ServerName& server) { return master().logic().registrations.Admit(server).ok(); }
};

TEST_F(StartCodesTest, WhatIsForgottenStaysBarred) {
  GivenMoreThanAreKept();
  EXPECT_EQ(Floor(), "1") << "the oldest first";
  EXPECT_FALSE(MayRegister(Old(0, 1)));
  EXPECT_FALSE(MayRegister({"new", 1, 1})) << "one that is not known may be one that was forgotten";
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  EXPECT_FALSE(MayRegister(Old(0, 1))) << "the next master knows";
  EXPECT_FALSE(MayRegister({"new", 1, 1}));
  EXPECT_TRUE(MayRegister(Old(0, 2)));
}

TEST_F(StartCodesTest, ForgettingWithoutAFloorIsCaught) {
  const ScopedMutant mutant("master.forget_without_floor");
  GivenMoreThanAreKept();
  EXPECT_EQ(Floor(), "0");
  EXPECT_TRUE(MayRegister({"new", 1, 1}));
}

TEST_F(StartCodesTest, OnlyOldOnesOfAddressesWithoutAServerAreForgottenByOneAtATime) {
  ManualTime time;
  Membership members(time);
  Registrations servers(time, members);
  const auto young = static_cast<std::uint64_t>(time.WallMillis());
  const ServerName first{"first", 1, young};
  const ServerName second{"second", 1, young};
  servers.RaiseStartCode({"online", 1, 5});  // old, and in use
  members.AddOnline({"online", 1, 5}, "v");
  for (std::size_t i = 0; i + 3 < Registrations::kStartCodesKept; ++i) servers.RaiseStartCode(Old(i, young));
  ASSERT_TRUE(servers.Admit(first).ok());
  ASSERT_TRUE(servers.Admit(second).ok());
  EXPECT_TRUE(servers.ForgetStartCodes(first).addresses.empty()) << "there are not more than are kept";
  servers.RaiseStartCode(Old(5'000, young - 1));
  EXPECT_TRUE(servers.ForgetStartCodes(first).addresses.empty()) << "none is old";
  servers.RaiseStartCode(Old(6'000, 7));
  const auto forgotten = servers.ForgetStartCodes(first);
  EXPECT_EQ(forgotten.addresses, std::vector<std::string>{"old-6000,1"});
  EXPECT_EQ(forgotten.floor, 7U);
  EXPECT_EQ(servers.ForgetStartCodes(first).addresses, forgotten.addresses) << "a step may run again";
  servers.RaiseStartCode(Old(7'000, 6));
  EXPECT_TRUE(servers.ForgetStartCodes(second).addresses.empty()) << "what the first forgets is not durable yet";
  EXPECT_TRUE(servers.EndRegistration(first, Ok()));
  const auto next = servers.ForgetStartCodes(second);
  EXPECT_EQ(next.addresses, std::vector<std::string>{"old-7000,1"});
  EXPECT_EQ(next.floor, 7U) << "it never falls";
  EXPECT_FALSE(servers.Admit({"new", 1, 7}).ok());
  EXPECT_FALSE(servers.Admit({"new", 1, 7}).ok()) << "being refused leaves nothing behind";
  EXPECT_TRUE(servers.Admit({"new", 1, 8}).ok());
}

// A later server may register between the check of the start code and the look at the address. The mutant lets the
// earlier one pass the check after it.
TEST_F(StartCodesTest, ALaterServerIsNeverTakenForAnOlderOne) {
  ManualTime time;
  Membership members(time);
  Registrations registrations(time, members);
  members.AddOnline({"h", 1, 3}, "v");
  members.AddOnline({"h", 1, 1}, "v");
  const ScopedMutant mutant("master.any_start_code");
  const auto admission = registrations.Admit({"h", 1, 2});
  ASSERT_TRUE(admission.ok());
  EXPECT_EQ(admission->older, (std::vector<ServerName>{{"h", 1, 1}}));
}

// The end of a registration makes the server a member first, so a request at that moment finds one of the two.
TEST_F(StartCodesTest, RequestDuringTheEndOfItsRegistrationIsNeverRefusedAsDead) {
  ManualTime time;
  Membership members(time);
  Registrations registrations(time, members);
  for (std::uint64_t code = 1; code <= 200; ++code) {
    const ServerName server{"h", 1, code};
    ASSERT_TRUE(registrations.Admit(server).ok());
    std::atomic<bool> begun{false};
    std::thread ends([&] {
      begun.store(true);
      EXPECT_TRUE(registrations.EndRegistration(server, Ok()));
    });
    while (!begun.load()) {
    }
    EXPECT_TRUE(registrations.IsKnown(server));
    const auto again = registrations.Admit(server);
    if (!again.ok()) {
      EXPECT_TRUE(again.error().remote_class().ends_with("PleaseHoldException")) << again.error().ToString();
    }
    ends.join();
    EXPECT_FALSE(registrations.EndRegistration(server, Ok())) << "only the first call ends it";
    EXPECT_TRUE(members.IsOnline(server));
    members.Remove(server);
  }
}

TEST_F(MasterTest, AFencedDirectoryWithoutACrashProcedureIsTakenUp) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  sim::SimServer& victim = OtherThan(MetaHost());
  cluster_.KillMaster();
  cluster_.storage().logs[victim.name()].fenced = true;  // a master died after the fence, before it did anything else
  cluster_.StartMaster();
  ExpectServed("t", 2);
  EXPECT_FALSE(cluster_.storage().logs.contains(victim.name()));
}

TEST_F(MasterTest, RegionStatesThatNameAServerThatNobodyKnows) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  (void)Unassign(encoded);
  ASSERT_TRUE(cluster_.Settle());
  cluster_.KillMaster();
  RegionRow& row = cluster_.meta().mutable_regions().at(encoded);
  row.state = RegionState::kOpen;
  row.location = ServerName{"ghost", 1, 1};
  cluster_.StartMaster();
  ExpectServed("t", 2);
  EXPECT_EQ(Regions("t")[0].state, RegionState::kOpen);
}

// No procedure handles it, and no heartbeat mentions it: the next master handles it, when it has loaded meta.
TEST_F(MasterTest, ARegionThatWasLeftBehindIsAssignedByTheNextMaster) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string encoded = Encoded("t");
  (void)Unassign(encoded);
  ASSERT_TRUE(cluster_.Settle());
  cluster_.KillMaster();
  RegionRow& row = cluster_.meta().mutable_regions().at(encoded);
  row.state = RegionState::kOpening;
  row.location.reset();
  cluster_.StartMaster();
  ExpectServed("t", 2);
}

TEST_F(MasterTest, ThereIsNeverASecondCrashProcedure) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const ServerName victim = OtherThan(MetaHost()).name();
  for (int i = 0; i < 3; ++i) master().logic().server_manager.Expire(victim, "again");
  EXPECT_EQ(master().executor().FindUnfinished("ServerCrash").size(), 1U);
  cluster_.StartMaster();
  EXPECT_EQ(master().executor().FindUnfinished("ServerCrash").size(), 1U);
  ExpectServed("t", 2);
}

}  // namespace
}  // namespace ratchet::master
