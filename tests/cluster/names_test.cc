// Addresses and identities on real processes: an unreachable server address, a ZooKeeper node or a root without its id,
// an election node that no master made.
#include <fstream>

#include "common/zk/cluster_place.h"
#include "common/zk/master_election.h"
#include "tests/cluster/why_fixture.h"
#include "tests/support/tcp_forwarder.h"

namespace ratchet::chaos {
namespace {

class NamesTest : public WhyClusterTest {
 protected:
  std::unique_ptr<zk::ZkSession> Session() {
    auto session = zk::ZkSession::Open({cluster().zookeeper(), Millis{5'000}});
    EXPECT_TRUE(session.ok());
    EXPECT_TRUE((*session)->WaitConnected(kPatience).ok());
    return std::move(*session);
  }
  void AwaitId(zk::ZkSession& session) {
    ASSERT_OK(ProcessCluster::WaitUntil("hbaseid is written again", kPatience, [&] {
      const auto place = zk::ReadPlace(session, zk::ZkPaths());
      return place.ok() && !place->cluster_id.empty();
    }));
  }
  void AwaitActive() {
    ASSERT_OK(ProcessCluster::WaitUntil("an active master", kPatience, [&] { return cluster().ActiveMaster().ok(); }));
  }
  [[nodiscard]] bool IsOnline(const std::string& process) {
    const Told servers = RunHere({"servers"});
    return servers.text.find(fmt::format("127.0.0.1,{},", cluster().Info(process).port)) != std::string::npos;
  }
};

TEST_F(NamesTest, AServerThatCannotBeReachedAtItsAddressNeverBecomesOnline) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("rs-2"));
  ASSERT_OK(ProcessCluster::WaitUntil("rs-2 is no longer online", kPatience, [&] { return !IsOnline("rs-2"); }));
  const std::uint16_t elsewhere = *PickFreePort();
  ASSERT_OK(cluster().Start("rs-2", {}, {"--listen-port", std::to_string(elsewhere)}));
  const std::string address = fmt::format("127.0.0.1:{}", cluster().Info("rs-2").port);
  ExpectWhy(0, {}, "CONNECTION", {"cannot reach it at " + address, "Connection refused", "--bind"});
  Told status = RunHere({"status"});
  EXPECT_NE(status.text.find("cannot reach it at " + address), std::string::npos) << status.text;
  EXPECT_FALSE(IsOnline("rs-2"));
  EXPECT_EQ(RunHere({"scan", "t"}).code, cli::kExitOk) << "its regions are open elsewhere";

  testing_support::TcpForwarder forwarder("127.0.0.1", cluster().Info("rs-2").port);
  forwarder.LeadTo(elsewhere);
  ASSERT_OK(ProcessCluster::WaitUntil("rs-2 is online", kPatience, [&] { return IsOnline("rs-2"); }));
  status = RunHere({"status"});
  EXPECT_EQ(status.text.find("cannot reach it"), std::string::npos) << status.text;
}

TEST_F(NamesTest, AnIdThatIsRemovedWhileTheActiveMasterDiesIsWrittenAgain) {
  Boot(2, 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto session = Session();
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string standby = *active == "master-1" ? "master-2" : "master-1";
  ASSERT_OK(session->Delete(zk::ZkPaths().ClusterId()));
  ASSERT_OK(cluster().Kill9(*active));
  AwaitId(*session);
  AwaitActive();

  // No master is left: the registered region server shows to which cluster the place belongs.
  ASSERT_OK(cluster().Kill9(standby));
  ASSERT_OK(session->Delete(zk::ZkPaths().ClusterId()));
  ASSERT_OK(cluster().Start(standby));
  ASSERT_OK(cluster().Start(*active));
  AwaitId(*session);
  AwaitActive();
  ASSERT_OK(ProcessCluster::WaitUntil("rs-1 is online", kPatience, [&] { return IsOnline("rs-1"); }));
}

TEST_F(NamesTest, ANodeThatNoMasterHasMadeIsNamed) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto session = Session();
  const zk::ZkPaths paths;
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("the node is gone", kPatience, [&] {
    const auto node = session->Get(paths.Master());
    return !node.ok() && node.error().code() == Code::kNotFound;
  }));
  ASSERT_OK(session->Create(paths.Master(), "x", zk::NodeKind::kPersistent));
  ASSERT_OK(cluster().Start("master-1"));
  ExpectWhy(0, {}, "STRANGER_NODE", {"/hbase/master is persistent", "zkCli.sh delete /hbase/master"});
  ExpectWhy(0, {}, "STRANGER_NODE", {"/hbase/master is persistent"},
            {"--master", fmt::format("127.0.0.1:{}", cluster().Info("master-1").port)});
  ASSERT_OK(session->Delete(paths.Master()));
  AwaitActive();
}

TEST_F(NamesTest, ALostClusterIdIsWrittenAgain) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto file = cluster().root() / "cluster.id";
  std::string before;
  std::ifstream(file) >> before;
  ASSERT_FALSE(before.empty());
  std::filesystem::remove(file);
  ASSERT_OK(ProcessCluster::WaitUntil("cluster.id exists again", kPatience, [&] {
    std::string now;
    std::ifstream(file) >> now;
    return now == before;
  }));
  std::ofstream(file) << "aaaaaaaa-0000-4000-8000-bbbbbbbbbbbb\n";
  ExpectWhy(0, {}, "DAMAGED_FILE", {"cluster.id", "aaaaaaaa-0000-4000-8000-bbbbbbbbbbbb", before});
  std::ofstream(file) << before << "\n";
  ExpectNothingWaits();
}

}  // namespace
}  // namespace ratchet::chaos
