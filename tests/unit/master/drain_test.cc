// Decommissioned servers: drained of their regions, not chosen as long as another server exists, and taken back.
#include "common/base/mutant.h"
#include "master/cluster/address_key.h"
#include "master/requests/server_admin.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class DrainTest : public MasterTest {
 protected:
  ServerAdmin& servers() { return master().logic().server_admin; }
  Result<ProcId> Drain(const ServerName& server, bool and_stop = false) {
    return master().Ask([&](Done done) { servers().DrainServer({server, true, and_stop}, {"me", {}}, done); });
  }
  Result<ProcId> Undrain(const ServerName& server, const std::vector<std::string>& regions = {}) {
    return master().Ask([&](Done done) { servers().Recommission(server, regions, {"me", {}}, done); });
  }
  std::string ResultOf(const Result<ProcId>& pid) {
    return pid.ok() ? master().executor().GetResult(*pid).result : pid.error().ToString();
  }
  bool IsMarked(const ServerName& server) { return master().logic().decommissions.IsMarked(server); }
  std::size_t Waiting(const char* step) {
    std::size_t count = 0;
    for (const ProcId pid : master().executor().FindUnfinished("DrainServer")) {
      count += master().executor().Get(pid)->step_name == step ? 1 : 0;
    }
    return count;
  }
  // A move has chosen the server when its drain begins and ends. Returns how many regions are open there afterwards.
  std::size_t OpenAfterADrainInTheMiddleOfAMove() {
    cluster_.Boot(2);
    GivenTable("t", 4);
    sim::SimServer& drained = cluster_.AddServer("added");
    EXPECT_TRUE(cluster_.RunUntil([&] { return master().logic().servers.IsOnline(drained.name()); }));
    const auto move = Move(Encoded("t"), drained.name());
    EXPECT_TRUE(cluster_.RunUntil([&] { return master().executor().Get(*move)->step_name == "OPEN"; }));
    // As on two threads, when the drain looks at the regions just before the step shows its server.
    master().logic().regions.Update(Encoded("t"), [](RegionNode& node) {
      node.state = RegionState::kClosed;
      node.location.reset();
    });
    const auto drain = Drain(drained.name());
    ExpectSettled();
    EXPECT_EQ(ResultOf(drain), "drained: 0 regions moved off");
    return drained.regions().size();
  }
  static std::vector<std::string> OpenOn(const sim::SimServer& server) {
    std::vector<std::string> open;
    for (const auto& [encoded, region] : server.regions()) open.push_back(encoded);
    return open;
  }
};

TEST_F(DrainTest, ADrainedServerHasNoRegionAndIsGivenNone) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  sim::SimServer& drained = MetaHost();
  const std::vector<std::string> before = OpenOn(drained);
  ASSERT_GT(before.size(), 1U) << "with hbase:meta and others";
  const auto pid = Drain(drained.name());
  ExpectSettled();
  EXPECT_EQ(ResultOf(pid), fmt::format("drained: {} regions moved off", before.size()));
  EXPECT_TRUE(drained.regions().empty());
  GivenTable("u", 6);
  (void)Move(Encoded("u"), drained.name());
  ExpectServed("t", 9);
  EXPECT_TRUE(drained.regions().empty()) << "it is decommissioned";

  const auto taken_back = Undrain(drained.name(), before);
  ExpectSettled();
  EXPECT_EQ(ResultOf(taken_back), fmt::format("undrained: {0} of {0} regions moved to it", before.size()));
  EXPECT_EQ(OpenOn(drained), before);
  EXPECT_NE(Undrain(drained.name()).error().message().find("is not decommissioned"), std::string::npos);
  ExpectServed("t", 9);
}

// The mark belongs to the address, and is durable.
TEST_F(DrainTest, AMarkOutlivesTheServerAndTheMaster) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& drained = HostOf(Encoded("t"));
  const ServerName name = drained.name();
  (void)Drain(name);
  ExpectSettled();
  cluster_.Kill(drained);
  cluster_.SessionEnds(name, Millis(10));
  sim::SimServer& next = cluster_.AddServer(name.host);
  cluster_.StartMaster();
  ExpectSettled();
  ASSERT_EQ(AddressKey(next.name()), AddressKey(name));
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().servers.IsOnline(next.name()); }));
  EXPECT_TRUE(IsMarked(next.name()));
  GivenTable("u", 6);
  EXPECT_TRUE(next.regions().empty());
  (void)Undrain(next.name());
  ExpectSettled();
  cluster_.StartMaster();
  ExpectSettled();
  EXPECT_FALSE(IsMarked(next.name()));
  GivenTable("v", 6);
  EXPECT_FALSE(next.regions().empty());
}

// The server is chosen durably, but no state shows that yet: the drain sees no region that it has to wait for.
TEST_F(DrainTest, AMoveThatHasChosenTheServerBeforeGoesElsewhere) {
  EXPECT_EQ(OpenAfterADrainInTheMiddleOfAMove(), 0U);
  ExpectServed("t", 4);
}

TEST_F(DrainTest, OpeningOnADrainedServerIsNoticed) {
  const ScopedMutant mutant("master.open_on_the_drained");
  EXPECT_EQ(OpenAfterADrainInTheMiddleOfAMove(), 1U);
}

TEST_F(DrainTest, TheLastServerIsNotDrained) {
  cluster_.Boot(2);
  GivenTable("t", 4);
  const ServerName one = cluster_.Alive()[0]->name();
  const ServerName two = cluster_.Alive()[1]->name();
  // Both are requested before either begins: the later one finds that it drains the last server.
  const auto first = Drain(one);
  const auto second = Drain(two);
  ExpectSettled();
  EXPECT_EQ(Outcome(first), "success");
  EXPECT_NE(Outcome(second).find("is the last one that can have regions"), std::string::npos) << Outcome(second);
  EXPECT_TRUE(IsMarked(one));
  EXPECT_FALSE(IsMarked(two));
  const auto again = Drain(two);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message().find("is the last one that can have regions"), std::string::npos);
  EXPECT_NE(Drain({"nowhere", 1, 1}).error().message().find("is not online"), std::string::npos);
  ExpectServed("t", 4);
}

TEST_F(DrainTest, DrainingTheLastServerIsNoticed) {
  const ScopedMutant mutant("master.drain_the_last");
  cluster_.Boot(1);
  EXPECT_TRUE(Drain(cluster_.Alive()[0]->name()).ok());
}

TEST_F(DrainTest, RegionsAreServedWhereOnlyDecommissionedServersAreLeft) {
  cluster_.Boot(2);
  GivenTable("t", 4);
  sim::SimServer& drained = *cluster_.Alive()[0];
  sim::SimServer& other = *cluster_.Alive()[1];
  (void)Drain(drained.name());
  ExpectSettled();
  ASSERT_TRUE(drained.regions().empty());
  cluster_.Kill(other);
  cluster_.SessionEnds(other.name(), Millis(10));
  master().logic().server_manager.Expire(other.name(), "it has ended");
  ExpectServed("t", 4);
  EXPECT_FALSE(drained.regions().empty());
  EXPECT_TRUE(IsMarked(drained.name())) << "until an operator takes it back";
}

TEST_F(DrainTest, ADrainEndsWhenItsServerDies) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  sim::SimServer& drained = HostOf(Encoded("t"));
  const auto pid = Drain(drained.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return Waiting("CONFIRM_MOVED") == 1; })) << master().Unfinished();
  cluster_.Kill(drained);
  cluster_.SessionEnds(drained.name(), Millis(10));
  master().logic().server_manager.Expire(drained.name(), "it has ended");
  ExpectServed("t", 9);
  EXPECT_NE(ResultOf(pid).find("has ended: its crash procedure"), std::string::npos) << ResultOf(pid);
}

TEST_F(DrainTest, DrainWaitsForAnotherServerAndEndsWithARecommission) {
  cluster_.Boot(2);
  GivenTable("t", 4);
  sim::SimServer& drained = *cluster_.Alive()[0];
  sim::SimServer& other = *cluster_.Alive()[1];
  const auto pid = Drain(drained.name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return IsMarked(drained.name()); }));
  master().logic().server_manager.Expire(other.name(), "it has ended");
  cluster_.Kill(other);
  cluster_.SessionEnds(other.name(), Millis(10));
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto info = master().executor().Get(*pid);
    return info && info->last_error && info->last_error->message().find("no other server") != std::string::npos;
  })) << master().Unfinished();
  (void)Undrain(drained.name());
  ExpectServed("t", 4);
  EXPECT_NE(ResultOf(pid).find("was undrained"), std::string::npos) << ResultOf(pid);
}

// Each answer to its heartbeats contains the request, also from the next master, until it has ended.
TEST_F(DrainTest, DrainedServerIsAskedToStop) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& drained = HostOf(Encoded("t"));
  const auto is_to_stop = [&] { return master().logic().decommissions.IsToStop(drained.name()); };
  const auto pid = Drain(drained.name(), /*and_stop=*/true);
  ASSERT_TRUE(cluster_.RunUntil(is_to_stop)) << master().Unfinished();
  EXPECT_TRUE(drained.regions().empty());
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready() && is_to_stop(); })) << master().Unfinished();
  cluster_.Kill(drained);
  cluster_.SessionEnds(drained.name(), Millis(10));
  master().logic().server_manager.Expire(drained.name(), "it has ended");
  ExpectServed("t", 6);
  EXPECT_NE(ResultOf(pid).find("the server has ended"), std::string::npos) << ResultOf(pid);
  EXPECT_FALSE(is_to_stop());
}

TEST_F(DrainTest, RecommissionEndsTheWaitForTheStop) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const ServerName drained = cluster_.Alive()[0]->name();
  const auto pid = Drain(drained, /*and_stop=*/true);
  ASSERT_TRUE(cluster_.RunUntil([&] { return Waiting("STOP_SERVER") == 1; })) << master().Unfinished();
  (void)Undrain(drained);
  ExpectSettled();
  EXPECT_NE(ResultOf(pid).find("not stopped: the server was undrained"), std::string::npos) << ResultOf(pid);
  EXPECT_FALSE(master().logic().decommissions.IsToStop(drained));
}

// Uses the method of HBase's clients, which returns when the marks are visible; the regions are moved afterwards.
TEST_F(DrainTest, SeveralServersAreDecommissionedAtOnce) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  const std::vector<ServerName> two = {cluster_.Alive()[0]->name(), cluster_.Alive()[1]->name()};
  std::optional<Status> answer;
  servers().Decommission(two, /*offload=*/true, {"me", {}}, [&](Status done) { answer = std::move(done); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
  EXPECT_TRUE(answer->ok()) << answer->error().ToString();
  EXPECT_EQ(master().logic().decommissions.Marked(), two);
  ExpectServed("t", 9);
  EXPECT_EQ(cluster_.Alive()[2]->regions().size(), 10U) << "with hbase:meta";
  answer.reset();
  servers().Decommission({cluster_.Alive()[2]->name()}, /*offload=*/false, {"me", {}},
                         [&](Status done) { answer = std::move(done); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
  EXPECT_FALSE(answer->ok());
}

}  // namespace
}  // namespace ratchet::master
