// Every master and every region server is restarted, one by one, under a writer, and each server has its regions again.
#include "chaos/cluster/rolling_restart.h"

#include <cstdio>
#include <map>

#include "common/client/drain.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class RollingRestartTest : public ClusterTest {};

TEST_F(RollingRestartTest, EveryProcessIsAnotherOneAndNoOperationFails) {
  Boot(2, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 12);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(100);
  std::map<std::string, std::int64_t> before;
  for (const ProcessInfo& info : cluster().Processes()) before[info.name] = info.id.pid;
  std::vector<std::string> lines;
  const auto longest = RollingRestart(cluster(), {kPatience, [&lines](const std::string& line) {
                                                    std::printf("%s\n", line.c_str());
                                                    lines.push_back(line);
                                                  }});
  ASSERT_OK(longest);
  std::printf("the longest of %llu puts and gets took %lld ms, while %s\n",
              static_cast<unsigned long long>(longest->operations), static_cast<long long>(longest->length.count()),
              longest->meanwhile.c_str());
  EXPECT_EQ(longest->failed, "");
  EXPECT_GT(longest->operations, 100U);
  EXPECT_EQ(lines.size(), 5U);
  for (const ProcessInfo& info : cluster().Processes()) {
    if (info.role == Role::kZooKeeper) continue;
    EXPECT_NE(info.id.pid, before[info.name]) << info.name;
  }
  WaitForWrites(100);
}

// It prints the reason and does not touch the remaining servers.
TEST_F(RollingRestartTest, ItStopsAtTheFirstProblem) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  StartWriter("t");
  WaitForWrites(20);
  const auto alone = RollingRestart(cluster(), {kPatience, {}});
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().message().find("needs two region servers"), std::string::npos);
  const auto added = cluster().AddServer();
  ASSERT_OK(added);
  ASSERT_OK(cluster().WaitServing(kPatience));
  client::Admin asks = admin();
  const ServerName drained = ServerNameOf(*added);
  ASSERT_OK(admin().WaitOk(client::Drain(asks, drained, false)));
  const std::int64_t pid = cluster().Info("rs-1").id.pid;
  const auto broken = RollingRestart(cluster(), {kPatience, {}});
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message().find("rolling restart stops at rs-1: its drain: "), std::string::npos)
      << broken.error().message();
  EXPECT_NE(broken.error().message().find("is the last one that can have regions"), std::string::npos);
  EXPECT_EQ(cluster().Info("rs-1").id.pid, pid);
  ASSERT_OK(admin().WaitOk(client::Undrain(asks, drained, {})));
}

}  // namespace
}  // namespace ratchet::chaos
