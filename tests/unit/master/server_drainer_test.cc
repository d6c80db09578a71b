// S73 (orderly stop): a server that was asked to stop leaves when its regions are open elsewhere; it does not wait for
// regions that can never be open elsewhere.
#include "master/requests/server_drainer.h"

#include "common/base/mutant.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class ServerDrainerTest : public MasterTest {
 protected:
  bool Asks(const sim::SimServer& server) { return master().logic().drainer.OnLeaving(server.name()); }
  // Asks the master as heartbeats do, until the server may leave. Returns the regions that it still had then.
  std::size_t HasWhenItMayLeave(const sim::SimServer& server) {
    EXPECT_TRUE(cluster_.RunUntil([&] { return Asks(server); })) << master().Unfinished();
    return master().logic().regions.OnServer(server.name()).size();
  }
};

TEST_F(ServerDrainerTest, ALeavingServerWaitsUntilItsRegionsAreOpenElsewhere) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  sim::SimServer& leaving = MetaHost();  // with hbase:meta, which has to move too
  ASSERT_FALSE(leaving.regions().empty());
  EXPECT_FALSE(Asks(leaving));
  EXPECT_EQ(HasWhenItMayLeave(leaving), 0U);
  for (const RegionNode& node : Regions("t")) {
    EXPECT_EQ(node.state, RegionState::kOpen);
    EXPECT_NE(node.location, leaving.name());
  }
  ExpectServed("t", 9);
  EXPECT_TRUE(leaving.regions().empty()) << "it is given no new ones";
}

// Its end is a crash procedure like any other, which assigns nothing and reports that the server had left.
TEST_F(ServerDrainerTest, TheEndOfAServerThatHasLeftIsShownAsThat) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& leaving = HostOf(Encoded("t"));
  sim::SimServer& crashed = OtherThan(leaving);
  EXPECT_EQ(HasWhenItMayLeave(leaving), 0U);
  std::map<std::string, std::string> results;  // by server
  for (sim::SimServer* server : {&leaving, &crashed}) {
    const std::string name = server->name().ToString();
    std::optional<ProcId> pid;
    cluster_.Kill(*server);
    master().logic().server_manager.Expire(server->name(), "it has ended",
                                           [&pid](const Result<ProcId>& submitted) { pid = *submitted; });
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    ASSERT_TRUE(pid.has_value());
    results[name] = master().executor().GetResult(*pid).result;
  }
  EXPECT_EQ(results[leaving.name().ToString()].find("ended after a requested stop: 0 regions assigned"), 0U)
      << results[leaving.name().ToString()];
  EXPECT_EQ(results[crashed.name().ToString()].find("recovered: "), 0U) << results[crashed.name().ToString()];
  ExpectServed("t", 6);
}

TEST_F(ServerDrainerTest, LeavingAtOnceIsCaught) {
  cluster_.Boot(2);
  GivenTable("t", 4);
  sim::SimServer& leaving = HostOf(Encoded("t"));
  const ScopedMutant mutant("master.leave_at_once");
  EXPECT_GT(HasWhenItMayLeave(leaving), 0U);
}

TEST_F(ServerDrainerTest, TheLastServersLeaveAtOnce) {
  cluster_.Boot(2);
  GivenTable("t", 4);
  sim::SimServer& one = *cluster_.Alive()[0];
  sim::SimServer& two = *cluster_.Alive()[1];
  EXPECT_FALSE(Asks(one));
  EXPECT_TRUE(Asks(two)) << "no server is left that could take its regions";
  EXPECT_TRUE(Asks(one));
}

TEST_F(ServerDrainerTest, NewMasterContinuesTheDrain) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& leaving = HostOf(Encoded("t"));
  EXPECT_FALSE(Asks(leaving));
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  EXPECT_EQ(HasWhenItMayLeave(leaving), 0U);
  ExpectServed("t", 6);
}

}  // namespace
}  // namespace ratchet::master
