// The death of a region server or of the active master is noticed by its address, long before its ZooKeeper session
// ends (S121: early findings are positive); that of a stopped server too, with --silence-detection (S124: silence needs
// three witnesses).
#include <algorithm>

#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class DetectionTest : public ClusterTest {
 protected:
  // No session of a server ends within the test.
  void BootWithLongSessions(int masters, int servers, std::vector<std::string> master_flags = {}) {
    ClusterSpec spec;
    spec.master_flags = std::move(master_flags);
    spec.session_timeout = 5 * kPatience;
    Boot(masters, servers, std::move(spec));
    if (HasFatalFailure()) return;
    MakeTable("t", 6);
    if (HasFatalFailure()) return;
    StartWriter("t");
    WaitForWrites(50);
  }
  Status AwaitRecovery(const std::string& process) {
    const std::string dead = ServerNameOf(process).ToString();
    return ProcessCluster::WaitUntil("the recovery of " + dead, kPatience, [&] {
      const auto online = admin().Regions(TableName("default", "t"));
      return online.ok() && std::all_of(online->begin(), online->end(),
                                        [&](const auto& region) { return region.server.ToString() != dead; });
    });
  }
};

TEST_F(DetectionTest, AKilledServerIsRecoveredWithoutTheEndOfItsSession) {
  BootWithLongSessions(1, 3);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Kill9("rs-2"));
  ASSERT_OK(AwaitRecovery("rs-2"));
  WaitForWrites(50);
}

TEST_F(DetectionTest, AStoppedServerIsRecoveredWithoutTheEndOfItsSession) {
  BootWithLongSessions(1, 4, {"--silence-detection=true"});
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().WaitLog("master-1", "Silence detection: enough answers of 4 servers are known", kPatience));
  ASSERT_OK(cluster().Pause("rs-2"));
  ASSERT_OK(AwaitRecovery("rs-2"));
  ASSERT_OK(cluster().WaitLog("master-1", "is expired: silent: ", kPatience));
  WaitForWrites(50);
  ASSERT_OK(cluster().Resume("rs-2"));
}

TEST_F(DetectionTest, AKilledActiveMasterIsReplacedWithoutTheEndOfItsSession) {
  BootWithLongSessions(2, 3);
  if (HasFatalFailure()) return;
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string other = *active == "master-1" ? "master-2" : "master-1";
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(ProcessCluster::WaitUntil("the election of " + other, kPatience, [&] {
    const auto now = cluster().ActiveMaster();
    return now.ok() && *now == other;
  }));
  MakeTable("made_later", 2);
  WaitForWrites(50);
}

}  // namespace
}  // namespace ratchet::chaos
