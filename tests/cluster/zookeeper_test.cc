// ZooKeeper restarts, or is gone for longer than every session: no data is lost and the cluster comes back.
#include <algorithm>
#include <string>
#include <vector>

#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

using ZooKeeperTest = ClusterTest;

TEST_F(ZooKeeperTest, RestartedWhileAllIsWellNothingFailsOver) {
  ClusterSpec spec;
  spec.session_timeout = Millis{10'000};
  Boot(2, 3, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Restart("zookeeper"));
  WaitForWrites(200);
  ASSERT_OK(cluster().WaitServing(kPatience));
  const auto now = cluster().ActiveMaster();
  ASSERT_OK(now);
  EXPECT_EQ(*now, *active);
  for (const auto& name : cluster().Names(Role::kRegionServer)) EXPECT_TRUE(cluster().Running(name)) << name;
  // Elections still work.
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
}

TEST_F(ZooKeeperTest, TheLeaderOfTheEnsembleDiesAndNothingFailsOver) {
  ClusterSpec spec;
  spec.zookeepers = 3;
  spec.session_timeout = Millis{5'000};
  Boot(2, 3, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const auto members = cluster().Names(Role::kZooKeeper);
  EXPECT_EQ(members, (std::vector<std::string>{"zookeeper-1", "zookeeper-2", "zookeeper-3"}));
  const auto leader = [&] {
    std::string found;
    for (const auto& name : members) {
      if (cluster().Running(name) && cluster().ZooKeeperStateOf(name).mode == "leader") found = name;
    }
    return found;
  };
  const std::string first = leader();
  ASSERT_NE(first, "");
  ASSERT_OK(cluster().Kill9(first));
  ASSERT_OK(ProcessCluster::WaitUntil("another leader", kPatience, [&] { return leader() != ""; }));
  WaitForWrites(200);
  ASSERT_OK(cluster().WaitServing(kPatience));
  const auto now = cluster().ActiveMaster();
  ASSERT_OK(now);
  EXPECT_EQ(*now, *active);
  for (const auto& name : cluster().Names(Role::kRegionServer)) EXPECT_TRUE(cluster().Running(name)) << name;
  // Elections work with one member missing, and the member returns.
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
  ASSERT_OK(cluster().Start(first));
  ASSERT_OK(cluster().WaitServing(kPatience));
  EXPECT_EQ(cluster().ZooKeeperStateOf(first).mode, "follower");
}

// With --zk-acl set a stranger can read every node and change none, while masters and region servers take over from
// each other as before; a restart of ZooKeeper does not open the nodes.
TEST_F(ZooKeeperTest, StrangersChangeNoNode) {
  ClusterSpec spec;
  spec.master_flags = {"--zk-acl", "set"};
  Boot(2, 3, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  const zk::ZkPaths paths;
  auto session = zk::ZkSession::Open({cluster().zookeeper(), Millis{5'000}});
  ASSERT_OK(session);
  ASSERT_OK((*session)->WaitConnected(kPatience));
  // The active master sets the rights of one node after the other, from a second after its election on.
  const auto restricted = [&] {
    const std::string server = paths.RegionServer(ServerNameOf("rs-1").ToString());
    const std::vector<std::string> nodes{paths.parent, paths.ClusterId(), paths.Master(), paths.RegionServers(),
                                         server};
    return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
      const auto rights = (*session)->Rights(node);
      return rights.ok() && !zk::IsOpen(*rights);
    });
  };
  ASSERT_OK(ProcessCluster::WaitUntil("rights", kPatience, restricted));
  const auto tries = [&] {
    const std::string server = paths.RegionServer(ServerNameOf("rs-1").ToString());
    for (const Status& tried : {(*session)->Delete(server), (*session)->Delete(paths.Master()),
                                (*session)->Set(paths.Master(), "false"), (*session)->Set(paths.ClusterId(), "false"),
                                (*session)->Create(paths.RegionServer("x,1,1"), "", zk::NodeKind::kEphemeral),
                                (*session)->SetRights(paths.parent, zk::OpenRights())}) {
      ASSERT_FALSE(tried.ok());
      EXPECT_NE(tried.error().message().find("not authenticated"), std::string::npos) << tried.error().ToString();
    }
    EXPECT_TRUE((*session)->Get(paths.Master()).ok());
  };
  tries();
  ASSERT_OK(cluster().Restart("zookeeper"));
  ASSERT_OK((*session)->WaitConnected(kPatience));
  const auto active = cluster().WaitActiveMaster(kPatience);  // ZooKeeper has just started
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
  ASSERT_OK(cluster().Kill9("rs-2"));
  ASSERT_OK(cluster().Start("rs-2"));
  ASSERT_OK(cluster().Start(*active));
  ASSERT_OK(cluster().WaitServing(kPatience));
  WaitForWrites(50);
  ASSERT_OK(ProcessCluster::WaitUntil("rights after the failover", kPatience, restricted));
  tries();
}

// A master without --publish-client-znodes removes the node of an earlier master, because clients would follow it to a
// server that no longer has hbase:meta. Stored settings reach a restarted process.
TEST_F(ZooKeeperTest, TheNodeForClientsIsThereOnlyWhileAMasterKeepsIt) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  auto session = zk::ZkSession::Open({cluster().zookeeper(), Millis{5'000}});
  ASSERT_OK(session);
  ASSERT_OK((*session)->WaitConnected(kPatience));
  const auto is_there = [&] { return (*session)->Get(zk::ZkPaths().MetaServer()).ok(); };
  ASSERT_OK(cluster().KeepSettings({{"RATCHET_PUBLISH_CLIENT_ZNODES", "true"}}));
  ASSERT_OK(cluster().Restart("master-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("the node is there", kPatience, is_there));
  ASSERT_OK(cluster().Restart("master-1", {{"RATCHET_PUBLISH_CLIENT_ZNODES", "false"}}));
  ASSERT_OK(ProcessCluster::WaitUntil("the node is gone", kPatience, [&] { return !is_there(); }));
}

TEST_F(ZooKeeperTest, GoneForLongerThanEverySession) {
  Boot();
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  ASSERT_OK(cluster().Kill9("zookeeper"));
  // A disconnected server keeps serving, because the fence protects the data.
  WaitForWrites(200);
  ASSERT_OK(cluster().Start("zookeeper"));
  // A server whose session expired during the restart ends; restart it.
  ASSERT_OK(ProcessCluster::WaitUntil("a settled cluster", kPatience, [&] {
    for (const auto role : {Role::kMaster, Role::kRegionServer}) {
      for (const auto& name : cluster().Names(role)) {
        if (!cluster().Running(name) && !cluster().Start(name).ok()) return false;
      }
    }
    return cluster().WaitServing(Millis{1'000}).ok();
  }));
  WaitForWrites(50);
}

}  // namespace
}  // namespace ratchet::chaos
