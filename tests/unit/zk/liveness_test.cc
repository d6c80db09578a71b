#include "common/zk/server_liveness.h"

#include "tests/unit/zk/zk_fixture.h"

namespace ratchet::zk {
namespace {

using LivenessTest = ZkFixture;

const ServerName kOne{"localhost", 2001, 11};
const ServerName kTwo{"localhost", 2002, 12};

TEST_F(LivenessTest, TheWatchFollowsArrivalsAndDepartures) {
  const auto master = Connect();
  Observed<std::set<ServerName>> live;
  LiveServerWatch watch(*master, Paths(), [&](const std::set<ServerName>& now) { live.Set(now); });
  watch.Start();
  ASSERT_TRUE(chaos::WaitUntil("the first list", kPatience, [&] { return live.changes() == 1; }).ok());
  EXPECT_TRUE(live.Get().empty());

  auto one = Connect();
  const auto two = Connect();
  ASSERT_TRUE(RegisterRegionServer(*one, Paths(), kOne, "1.0", kPatience).ok());
  ASSERT_TRUE(RegisterRegionServer(*two, Paths(), kTwo, "1.0", kPatience).ok());
  ASSERT_TRUE(live.WaitFor({kOne, kTwo}));
  EXPECT_EQ(*ReadLiveServers(*master, Paths()), (std::vector<ServerName>{kOne, kTwo}));
  one->Close();
  EXPECT_TRUE(live.WaitFor({kTwo}));

  watch.Stop();
  const int before = live.changes();
  ASSERT_TRUE(RegisterRegionServer(*master, Paths(), kOne, "1.0", kPatience).ok());
  EXPECT_EQ(ReadLiveServers(*master, Paths())->size(), 2u);
  EXPECT_EQ(live.changes(), before);
}

TEST_F(LivenessTest, ARestartOfZooKeeperIsNoDeparture) {
  const auto master = Connect(Millis(20'000));
  const auto server = Connect(Millis(20'000));
  ASSERT_TRUE(RegisterRegionServer(*server, Paths(), kOne, "1.0", kPatience).ok());
  Observed<std::set<ServerName>> live;
  LiveServerWatch watch(*master, Paths(), [&](const std::set<ServerName>& now) { live.Set(now); });
  watch.Start();
  ASSERT_TRUE(live.WaitFor({kOne}));
  ASSERT_TRUE(Server().Kill9().ok());
  ASSERT_TRUE(Server().Start(kPatience).ok());
  const auto late = Connect(Millis(20'000));
  ASSERT_TRUE(RegisterRegionServer(*late, Paths(), kTwo, "1.0", kPatience).ok());
  ASSERT_TRUE(live.WaitFor({kOne, kTwo}));
  EXPECT_EQ(live.changes(), 2);  // never a list without kOne
}

TEST_F(LivenessTest, ANameIsRegisteredOnce) {
  const auto one = Connect();
  const auto two = Connect();
  ASSERT_TRUE(RegisterRegionServer(*one, Paths(), kOne, "1.0", kPatience).ok());
  EXPECT_TRUE(RegisterRegionServer(*one, Paths(), kOne, "1.0", kPatience).ok());  // its own retry
  EXPECT_EQ(RegisterRegionServer(*two, Paths(), kOne, "1.0", kPatience).error().code(), Code::kAlreadyExists);
}

TEST_F(LivenessTest, StrangeNamesAreNotServers) {
  const auto session = Connect();
  ASSERT_TRUE(session->EnsurePath(Paths().RegionServers() + "/draining").ok());
  ASSERT_TRUE(RegisterRegionServer(*session, Paths(), kOne, "1.0", kPatience).ok());
  EXPECT_EQ(*ReadLiveServers(*session, Paths()), std::vector<ServerName>{kOne});
}

TEST_F(LivenessTest, RegistrationGivesUpAtItsDeadline) {
  const auto port = chaos::PickFreePort();
  ASSERT_TRUE(port.ok());
  const auto session = ZkSession::Open({"127.0.0.1:" + std::to_string(*port), Millis(2000)});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(RegisterRegionServer(**session, Paths(), kOne, "1.0", Millis(100)).error().code(), Code::kTimeout);
}

}  // namespace
}  // namespace ratchet::zk
