// A requested stop of a region server (S73: orderly stop): its regions are open elsewhere before it
// ends, and no log is split.
#include <algorithm>
#include <csignal>

#include "common/model/proto/operator.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class StopTest : public ClusterTest {
 protected:
  static std::int64_t NowMs() {
    return std::chrono::duration_cast<Millis>(SystemClock().Now().time_since_epoch()).count();
  }

  // Sends SIGTERM to `name`, and puts to one region after the other until the server has ended; no put may fail.
  // Returns the longest put, in ms.
  std::int64_t StopUnderPuts(const std::string& name, const std::string& table, int regions) {
    client::Table rows(connection(), TableName("default", table));
    std::int64_t longest = 0;
    int puts = 0;
    int after_end = 0;
    EXPECT_TRUE(Signal(cluster().Info(name).id, SIGTERM).ok());
    for (; after_end < regions; ++puts) {
      if (!cluster().Running(name)) ++after_end;
      const std::string row = fmt::format("{:06X}", 0x20000 * (puts % regions) / regions + puts);
      const std::int64_t begun = NowMs();
      const auto put = rows.Mutate(client::Mutation::Put(row).Set("u", "v", "x"));
      EXPECT_TRUE(put.ok()) << put.error().ToString();
      longest = std::max(longest, NowMs() - begun);
      if (HasFailure()) break;
    }
    return longest;
  }
};

TEST_F(StopTest, RegionsAreElsewhereBeforeTheServerEndsAndNoLogIsSplit) {
  Boot(1, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 9);
  MakeTable("puts", 9);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(100);
  const auto holder = cluster().MetaHolder();  // the hardest case, because hbase:meta must move too
  ASSERT_OK(holder);
  const ServerName leaving = ServerNameOf(*holder);
  const std::uint64_t from = cluster().LogSize("master-1");
  const std::int64_t begun = NowMs();
  const std::int64_t longest = StopUnderPuts(*holder, "puts", 9);
  std::printf("served elsewhere and ended within %lld ms; the longest put took %lld ms\n",
              static_cast<long long>(NowMs() - begun), static_cast<long long>(longest));
  const auto code = cluster().WaitExit(*holder, kPatience);
  ASSERT_OK(code);
  EXPECT_EQ(*code, 0);
  EXPECT_FALSE(cluster().LogLines(*holder, "the master allows the end").empty());
  EXPECT_FALSE(cluster().LogLines(*holder, ", with 0 regions").empty());
  // The crash procedure only archives the server's directory.
  ASSERT_OK(cluster().WaitLog("master-1", "sealed 0 logs of " + leaving.ToString(), kPatience, from));
  ASSERT_OK(cluster().WaitLog("master-1", leaving.ToString() + " had 0 regions", kPatience, from));
  ASSERT_OK(cluster().WaitServing(kPatience));
  EXPECT_TRUE(cluster().LogLines("master-1", "SplitWal", from).empty());
  // The log confirms that no region was assigned.
  ASSERT_OK(cluster().WaitLog(
      "master-1", leaving.ToString() + ": ended after a requested stop: no region, no log split", kPatience, from));
  WaitForWrites(100);
  ASSERT_OK(cluster().Start(*holder));
}

// The next master learns of the stop with the next heartbeat.
TEST_F(StopTest, AFailoverMeanwhileKeepsIt) {
  Boot(2, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 9);
  StartWriter("t");
  WaitForWrites(50);
  const auto master = cluster().ActiveMaster();
  ASSERT_OK(master);
  const auto holder = cluster().MetaHolder();
  ASSERT_OK(holder);
  ASSERT_OK(Signal(cluster().Info(*holder).id, SIGTERM));
  ASSERT_OK(cluster().WaitLog(*holder, "regions must be opened elsewhere", kPatience));
  ASSERT_OK(cluster().Kill9(*master));
  const auto code = cluster().WaitExit(*holder, kPatience);
  ASSERT_OK(code);
  EXPECT_EQ(*code, 0);
  EXPECT_FALSE(cluster().LogLines(*holder, "the master allows the end").empty());
  EXPECT_FALSE(cluster().LogLines(*holder, ", with 0 regions").empty());
  ASSERT_OK(cluster().Start(*master));
  ASSERT_OK(cluster().Start(*holder));
  WaitForWrites(50);
}

// All servers stop at once, as in a cluster shutdown: no server waits for another.
TEST_F(StopTest, StoppingEveryServerIsQuick) {
  Boot(1, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 9);
  const std::int64_t begun = NowMs();
  const auto names = cluster().Names(Role::kRegionServer);
  for (const auto& name : names) ASSERT_OK(Signal(cluster().Info(name).id, SIGTERM));
  for (const auto& name : names) {
    const auto code = cluster().WaitExit(name, kPatience);
    ASSERT_OK(code);
    EXPECT_EQ(*code, 0);
    EXPECT_TRUE(cluster().LogLines(name, "out of time").empty()) << name;
  }
  std::printf("all have ended within %lld ms\n", static_cast<long long>(NowMs() - begun));
  for (const auto& name : names) ASSERT_OK(cluster().Start(name));
}

// Paused moves do not run: the server ends at its time limit, and its regions wait for the crash procedure.
TEST_F(StopTest, MovesThatArePausedHoldItBackForABoundedTime) {
  ClusterSpec spec;
  spec.server_flags = {"--drain-timeout-ms", "1500"};
  Boot(1, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  StartWriter("t");
  WaitForWrites(50);
  pb::PauseRequest pause;
  pause.mutable_scope()->set_kind(pb::PauseScope::ORDINARY);
  ASSERT_OK(admin().Call(methods::kPause, pause));
  ASSERT_OK(Signal(cluster().Info("rs-1").id, SIGTERM));
  const auto code = cluster().WaitExit("rs-1", kPatience);
  ASSERT_OK(code);
  EXPECT_EQ(*code, 0);
  EXPECT_FALSE(cluster().LogLines("rs-1", "out of time (--drain-timeout-ms)").empty());
  ASSERT_OK(cluster().Start("rs-1"));
  pb::ResumeRequest resume;
  *resume.mutable_scope() = pause.scope();
  ASSERT_OK(admin().Call(methods::kResume, resume));
  ASSERT_OK(cluster().WaitServing(kPatience));
  WaitForWrites(50);
}

}  // namespace
}  // namespace ratchet::chaos
