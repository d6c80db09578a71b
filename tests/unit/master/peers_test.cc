// Replication peers: added, changed, refused, sent to every server; logs of dead servers that are kept for them.
#include "common/base/mutant.h"
#include "common/model/replication_peer.h"
#include "master/chores/replication_manager.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/switches.h"
#include "master/requests/peer_admin.h"
#include "master/requests/switch_admin.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

using Config = hbase::pb::ReplicationPeer;

Config PeerAt(const std::string& key) {
  Config config;
  config.set_clusterkey(key);
  config.set_replicate_all(true);
  return config;
}

void AddTable(google::protobuf::RepeatedPtrField<hbase::pb::TableCF>& tables, const char* ns, const char* name,
              std::initializer_list<const char*> families = {}) {
  auto& table = *tables.Add();
  table.mutable_table_name()->set_namespace_(ns);
  table.mutable_table_name()->set_qualifier(name);
  for (const char* family : families) table.add_families(family);
}

TEST(ReplicationPeerTest, ClusterKeysAreRead) {
  const auto one = ParseClusterKey("a,b:2181:/hbase");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(*one, (ClusterKey{"a:2181,b:2181", "/hbase"}));
  EXPECT_EQ(*ParseClusterKey(" a:1,b:2:/x/y "), (ClusterKey{"a:1,b:2", "/x/y"}));
  EXPECT_EQ(*ParseClusterKey("[::1]:2181:/hbase"), (ClusterKey{"[::1]:2181", "/hbase"}));
  EXPECT_EQ(*ParseClusterKey("[::1],[fd77::2]:1,c:2181:/h"), (ClusterKey{"[::1]:2181,[fd77::2]:1,c:2181", "/h"}));
  for (const char* bad : {"", "whatever", "a:2181", "a:2181:hbase", "a:x:/hbase", "a:0:/h", ":1:/h", "a:1:/", "a:1:/h/",
                          "[a]:2181:/h", "[::1:2181:/h", "[::1]x:2181:/h"})
    EXPECT_FALSE(ParseClusterKey(bad).ok()) << bad;
}

TEST(ReplicationPeerTest, ConfigurationsAreChecked) {
  Config config = PeerAt("a:2181:/hbase");
  EXPECT_TRUE(CheckPeerConfig(config).ok());
  config.add_namespaces("ns");
  EXPECT_FALSE(CheckPeerConfig(config).ok());
  config.set_replicate_all(false);
  EXPECT_TRUE(CheckPeerConfig(config).ok());
  AddTable(*config.mutable_table_cfs(), "ns", "t");
  EXPECT_NE(CheckPeerConfig(config).error().message().find("conflict with namespaces ns"), std::string::npos);
  config.clear_namespaces();
  EXPECT_TRUE(CheckPeerConfig(config).ok());
  config.add_exclude_namespaces("other");
  EXPECT_FALSE(CheckPeerConfig(config).ok());
  Config serial = PeerAt("a:2181:/hbase");
  serial.set_serial(true);
  EXPECT_TRUE(CheckPeerConfig(serial).ok());
  Config own = PeerAt("a:2181:/hbase");
  own.set_replicationendpointimpl("com.example.Mine");
  EXPECT_TRUE(CheckPeerConfig(own).error().message().starts_with("Can not instantiate"));
  for (const char* bad : {"", "a-b", "a/b", "a b"}) EXPECT_FALSE(CheckPeerId(bad).ok()) << bad;
}

TEST(ReplicationPeerTest, SelectsFamilies) {
  const TableName table("ns", "t");
  Config all = PeerAt("a:2181:/hbase");
  EXPECT_TRUE(GoesToPeer(all, table, "f"));
  EXPECT_FALSE(GoesToPeer(all, {"hbase", "replication"}, "queue"));
  AddTable(*all.mutable_exclude_table_cfs(), "ns", "t", {"f"});
  EXPECT_FALSE(GoesToPeer(all, table, "f"));
  EXPECT_TRUE(GoesToPeer(all, table, "g"));
  Config some;
  some.set_replicate_all(false);
  EXPECT_FALSE(GoesToPeer(some, table, "f"));
  AddTable(*some.mutable_table_cfs(), "ns", "t", {"f"});
  EXPECT_TRUE(GoesToPeer(some, table, "f"));
  EXPECT_FALSE(GoesToPeer(some, table, "g"));
  some.add_namespaces("other");
  EXPECT_TRUE(GoesToPeer(some, {"other", "x"}, "g"));
}

class PeerTest : public MasterTest {
 protected:
  PeerAdmin& peer_admin() { return master().logic().peer_admin; }
  PeerDirectory& peers() { return master().logic().peers; }
  std::string Ended(const Result<ProcId>& pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return Outcome(pid);
  }
  std::string Add(const std::string& id, const Config& config = PeerAt("elsewhere:2181:/hbase"), bool enabled = true) {
    return Ended(master().Ask([&](Done done) { peer_admin().Add(id, config, enabled, {"me", {}}, done); }));
  }
  std::string Change(PeerChange change, const std::string& id) {
    return Ended(master().Ask([&](Done done) { peer_admin().Change(change, id, {"me", {}}, done); }));
  }
  std::string Update(const std::string& id, const Config& config) {
    return Ended(master().Ask([&](Done done) { peer_admin().Update(id, config, {"me", {}}, done); }));
  }
};

TEST_F(PeerTest, PeersComeChangeAndGo) {
  cluster_.Boot(3);
  EXPECT_EQ(Add("p"), "success");
  for (const sim::SimServer* server : cluster_.Alive()) EXPECT_EQ(server->peers.peer_size(), 1);
  EXPECT_NE(Add("p").find("already exists"), std::string::npos);
  EXPECT_NE(Add("a-b").find("invalid peer name"), std::string::npos);
  EXPECT_NE(Change(PeerChange::kEnable, "p").find("already been enabled"), std::string::npos);
  EXPECT_EQ(Change(PeerChange::kDisable, "p"), "success");
  EXPECT_EQ(peers().Get("p")->state().state(), hbase::pb::ReplicationState::DISABLED);
  EXPECT_NE(Update("p", PeerAt("another:2181:/hbase")).find("not allowed"), std::string::npos);
  Config slow = PeerAt(" elsewhere:2181:/hbase ");
  slow.set_bandwidth(100);
  EXPECT_EQ(Update("p", slow), "success");
  EXPECT_EQ(peers().Get("p")->config().clusterkey(), "elsewhere:2181:/hbase");
  EXPECT_EQ(peers().Get("p")->state().state(), hbase::pb::ReplicationState::DISABLED);
  for (const sim::SimServer* server : cluster_.Alive()) EXPECT_EQ(server->peers.peer(0).config().bandwidth(), 100);
  EXPECT_EQ(Change(PeerChange::kRemove, "p"), "success");
  EXPECT_NE(Change(PeerChange::kRemove, "p").find("does not exist"), std::string::npos);
  for (const sim::SimServer* server : cluster_.Alive()) EXPECT_EQ(server->peers.peer_size(), 0);
}

TEST_F(PeerTest, NothingChangesWhileTheSwitchIsOff) {
  cluster_.Boot(2);
  master().logic().switch_admin.Set({{Switch::kPeerModification}, false, false, {"me", {}}}, [](const auto&) {});
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_NE(Add("p").find("Replication peer modification disabled"), std::string::npos);
}

// A server that cannot be reached does not delay a change without end: it is expired, and its successor gets the peers
// with its heartbeats. A later master's list replaces an earlier one's.
TEST_F(PeerTest, AServerThatDiesIsNotWaitedFor) {
  cluster_.Boot(3);
  cluster_.Alive().front()->cut_off = true;
  const auto added = master().Ask([&](Done done) {
    peer_admin().Add("p", PeerAt("elsewhere:2181:/hbase"), true, {"me", {}}, done);
  });
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("RefreshPeer").empty(); }));
  cluster_.Kill(*cluster_.Alive().front());
  EXPECT_EQ(Ended(added), "success");
  const ServerName server = cluster_.Alive().front()->name();
  const auto before = peers().ListFor(server, Epoch(1));
  EXPECT_EQ(before.peer_size(), 1);
  EXPECT_EQ(Change(PeerChange::kRemove, "p"), "success");
  EXPECT_GT(peers().ListFor(server, Epoch(1)).number(), before.number());
}

class QueueTest : public PeerTest {
 protected:
  // The logs of one server that died, claimed.
  void BootWithAQueue() {
    cluster_.Boot(3);
    EXPECT_EQ(Add("p"), "success");
    cluster_.Kill(*cluster_.Alive().front());
    Recover();
  }
  // Runs until the session and the crash procedure of the dead server have ended.
  void Recover() {
    ASSERT_TRUE(cluster_.RunFor(Millis(10'000)));
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
};

TEST_F(QueueTest, LogsOfADeadServerAreClaimedAndRetiredWhenTheyAreShipped) {
  BootWithAQueue();
  ASSERT_EQ(peers().Queues().size(), 1U);
  const auto queue = peers().Queues().front();
  EXPECT_TRUE(cluster_.storage().archived.contains("oldWALs/" + queue.server()));
  const ServerName claimer = *ServerName::Parse(queue.claimer());
  EXPECT_EQ(peers().ListFor(claimer, Epoch(1)).queue_size(), 1);
  hbase::pb::ReplicationProgress progress;
  progress.set_server(queue.server());
  progress.set_finished(true);
  // Another server's report does not count.
  peers().PutProgress(ServerName{"other", 1, 1}, {progress});
  master().logic().replication_manager.Tick();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(peers().Queues().size(), 1U);
  peers().PutProgress(claimer, {progress});
  master().logic().replication_manager.Tick();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_TRUE(peers().Queues().empty());
  EXPECT_FALSE(cluster_.storage().archived.contains("oldWALs/" + queue.server()));
}

TEST_F(QueueTest, WhenTheClaimerDiesAnotherServerClaims) {
  BootWithAQueue();
  const auto queue = peers().Queues().front();
  for (sim::SimServer* server : cluster_.Alive())
    if (server->name().ToString() == queue.claimer()) cluster_.Kill(*server);
  Recover();
  cluster_.AddServer("fresh");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  for (int i = 0; i < 5; ++i) {
    master().logic().replication_manager.Tick();
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
  ASSERT_EQ(peers().Queues().size(), 2U);
  for (const auto& each : peers().Queues())
    EXPECT_TRUE(master().logic().servers.IsOnline(*ServerName::Parse(each.claimer()))) << each.claimer();
}

TEST_F(QueueTest, ClaimingNothingIsNoticed) {
  const ScopedMutant mutant("master.claim_nothing");
  BootWithAQueue();
  EXPECT_TRUE(peers().Queues().empty());
}

}  // namespace
}  // namespace ratchet::master
