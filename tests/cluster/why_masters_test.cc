// Stuck situations without servers, masters or ZooKeeper: `ratchet why` still gives an answer.
#include "tests/cluster/why_fixture.h"

namespace ratchet::chaos {
namespace {

class WhyMastersTest : public WhyClusterTest {
 protected:
  std::vector<std::string> At(const std::string& master) {
    return {"--master", fmt::format("127.0.0.1:{}", cluster().Info(master).port)};
  }
};

TEST_F(WhyMastersTest, NoServerAndNoMaster) {
  Boot(2, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string standby = *active == "master-1" ? "master-2" : "master-1";
  // A standby returns the active master and its answer.
  ASSERT_EQ(Run([&] {
              auto words = At(standby);
              words.emplace_back("why");
              return words;
            }())
                .code,
            cli::kExitOk)
      << "nothing waits";

  // 2: all servers are gone; 3: the one with hbase:meta among them, and no other one.
  ASSERT_OK(cluster().Kill9("rs-1"));
  ExpectWhy(2, {}, "NO_SERVER", {"ServerCrash"});
  ExpectWhy(3, {"table", "hbase:meta"}, "NO_SERVER", {"hbase:meta", "ServerCrash"});
  ExpectWhy(2, {"t"}, "NO_SERVER", {}, At(standby));

  // A master that starts and cannot get hbase:meta.
  ASSERT_OK(cluster().Kill9(standby));
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().Start(*active));
  ExpectWhy(3, {}, "NO_SERVER", {"starting"});

  // 10: a master that was started paused.
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().Start(*active, {}, {"--start-paused"}));
  ExpectWhy(10, {}, "PAUSED", {"started with --start-paused", "ratchet resume everything"});

  // No master answers: the command itself checks ZooKeeper and the network.
  ASSERT_OK(cluster().Kill9(*active));
  ExpectWhy(0, {}, "NO_ACTIVE_MASTER", {"no master is registered as active"});
  ExpectWhy(0, {}, "CONNECTION", {"Connection refused"}, At(*active));
}

// 19: the active master hangs, so that the standby cannot claim.
TEST_F(WhyMastersTest, AStandbyThatCannotClaim) {
  ClusterSpec spec;
  spec.master_flags = {"--zk-session-ms", "60000"};
  Boot(2, 1, spec);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string standby = *active == "master-1" ? "master-2" : "master-1";
  ASSERT_OK(cluster().Pause(*active));
  ExpectWhy(19, {}, "SILENT_MASTER", {"standby", "does not answer"}, At(standby));
  ExpectWhy(19, {}, "SILENT_MASTER", {"active by its node in ZooKeeper"});
  ASSERT_OK(cluster().Resume(*active));
  ExpectNothingWaits();
}

// 4: ZooKeeper without a majority.
TEST_F(WhyMastersTest, ZooKeeperWithoutAMajority) {
  ClusterSpec spec;
  spec.zookeepers = 3;
  spec.session_timeout = Millis{20'000};
  Boot(1, 1, spec);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto place = At("master-1");
  ASSERT_OK(cluster().Kill9("zookeeper-1"));
  ASSERT_OK(cluster().Kill9("zookeeper-2"));
  ExpectWhy(4, {}, "ZOOKEEPER", {"no member of ZooKeeper serves", "refused"});
  ExpectWhy(4, {}, "ZOOKEEPER", {"ZooKeeper does not answer this master"}, place);
}

}  // namespace
}  // namespace ratchet::chaos
