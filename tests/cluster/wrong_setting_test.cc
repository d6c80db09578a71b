// One mistyped setting (S72: root and ZooKeeper node belong together): a second master or region server with a wrong
// root, ensemble or parent refuses to start, with both ids in its error, before it claims, fences or registers; the
// running cluster is not affected.
#include <fstream>
#include <set>

#include <unistd.h>

#include <fmt/format.h>

#include "chaos/cluster/zookeeper_process.h"
#include "common/base/exit_codes.h"
#include "common/zk/cluster_place.h"
#include "common/zk/master_election.h"
#include "common/zk/znode_codec.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherId = "aaaaaaaa-0000-4000-8000-bbbbbbbbbbbb";

class WrongSettingTest : public ClusterTest {
 protected:
  void TearDown() override {
    ClusterTest::TearDown();
    if (second_.has_value()) IgnoreResult(second_->Kill9(), "nothing of it is kept");
    if (!scratch_.empty()) fs::remove_all(scratch_);
  }

  // Returns the state that must not change: processes, claims, fences.
  std::string RootState() {
    std::string text;
    for (const auto& info : cluster().Processes()) {
      if (info.id.pid != 0) text += fmt::format("{} {} {}\n", info.name, info.id.pid, info.serving_as);
    }
    std::set<std::string> names;
    for (const char* folder : {"procedures", "wals"}) {
      for (const auto& entry : fs::directory_iterator(cluster().root() / folder)) {
        const std::string name = entry.path().filename();
        if (std::string_view(folder) == "wals" || name.starts_with("claim")) names.insert(name);
      }
    }
    for (const auto& name : names) text += name + "\n";
    return text;
  }

  void ExpectRefused(const std::string& name, const std::vector<std::string>& flags, const std::set<std::string>& ids) {
    SCOPED_TRACE(fmt::format("{} {}", name, fmt::join(flags, " ")));
    const std::string before = RootState();
    ASSERT_OK(cluster().Start(name, {}, flags));
    const auto ended = cluster().WaitExit(name, kPatience);
    ASSERT_OK(ended);
    EXPECT_EQ(*ended, exit_code::kWrongPlace);
    const auto said = cluster().LogLines(name, "do not belong together");
    ASSERT_FALSE(said.empty());
    for (const auto& id : ids) EXPECT_NE(said.front().find(id), std::string::npos) << said.front();
    EXPECT_EQ(RootState(), before);
  }

  static void Plant(const std::string& zookeeper, const std::string& parent) {
    auto session = zk::ZkSession::Open({zookeeper, Millis{5'000}});
    ASSERT_OK(session);
    ASSERT_OK((*session)->WaitConnected(kPatience));
    zk::ZkPaths paths;
    paths.parent = parent;
    ASSERT_OK(zk::ClaimPlace(**session, paths, {kOtherId, false}, false));
  }

  // Starts another, empty ensemble.
  std::string SecondZooKeeper() {
    ZooKeeperSpec spec;
    scratch_ = fs::path(testing::TempDir()) / fmt::format("ratchet-second-zookeeper-{}", ::getpid());
    fs::create_directories(scratch_);
    spec.dir = scratch_ / "data";
    spec.log = scratch_ / "log";
    auto made = ZooKeeperProcess::Prepare(spec);
    EXPECT_TRUE(made.ok());
    second_.emplace(std::move(*made));
    EXPECT_TRUE(second_->Start(kPatience).ok());
    return second_->address();
  }

  std::string RootWithHistory(const std::string& name, bool history) {
    const fs::path root = cluster().spec().dir / name;
    fs::create_directories(root / "wals");
    if (history) fs::create_directories(root / "procedures" / "claim.1");
    std::ofstream(root / "cluster.id") << kOtherId << "\n";
    return root;
  }

  std::string OurId() {
    std::ifstream file(cluster().root() / "cluster.id");
    std::string id;
    file >> id;
    return id;
  }

 private:
  std::optional<ZooKeeperProcess> second_;
  fs::path scratch_;
};

TEST_F(WrongSettingTest, EveryWrongPairIsRefusedBeforeItTouchesAnything) {
  Boot(2, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  StartWriter("t");
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string master = *active == "master-1" ? "master-2" : "master-1";
  ASSERT_OK(cluster().Stop(master, kPatience));
  ASSERT_OK(cluster().Stop("rs-2", kPatience));
  ASSERT_OK(ProcessCluster::WaitUntil("rs-2's logs are retired", kPatience, [&] {
    return RootState().find("-splitting") == std::string::npos && cluster().WaitServing(Millis(0)).ok();
  }));
  const std::string ours = OurId();
  const std::string used_root = RootWithHistory("used-root", true);
  const std::string new_root = RootWithHistory("new-root", false);
  const std::string empty = SecondZooKeeper();
  Plant(cluster().zookeeper(), "/theirs");
  if (HasFatalFailure()) return;
  const auto try_all = [&](const std::string& name) {
    ExpectRefused(name, {"--root", used_root}, {kOtherId, ours});
    ExpectRefused(name, {"--root", new_root}, {kOtherId, ours});
    ExpectRefused(name, {"--zk-parent", "/theirs"}, {kOtherId, ours});
    ExpectRefused(name, {"--zk-parent", "/unused"}, {ours, "none"});
    ExpectRefused(name, {"--zookeeper", empty}, {ours, "none"});
    ExpectRefused(name, {"--root", used_root, "--zookeeper", empty}, {kOtherId, "none"});
    ExpectRefused(name, {"--root", used_root, "--zk-parent", "/unused"}, {kOtherId, "none"});
  };
  try_all(master);  // a standby of the active master; at another place it would be the only master
  try_all("rs-2");
  Plant(empty, "/hbase");
  ExpectRefused(master, {"--zookeeper", empty}, {kOtherId, ours});
  ExpectRefused("rs-2", {"--zookeeper", empty}, {kOtherId, ours});
  const std::string nothing = cluster().spec().dir / "empty-root";
  fs::create_directories(nothing);
  ExpectRefused(master, {"--root", nothing}, {"none", ours});
  EXPECT_TRUE(fs::is_empty(nothing)) << "a directory that was named by mistake is left as it was";
  WaitForWrites(20);
  ASSERT_OK(cluster().Start(master));
  ASSERT_OK(cluster().Start("rs-2"));
}

// No other master could detect the error, and no region server is registered at the wrong place.
TEST_F(WrongSettingTest, ALoneMasterAtAWrongPlaceFencesNoServer) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  StartWriter("t");
  WaitForWrites(10);
  ASSERT_OK(cluster().Kill9("master-1"));
  ExpectRefused("master-1", {"--zk-parent", "/unused"}, {OurId(), "none"});
  WaitForWrites(10);
  ASSERT_OK(cluster().Start("master-1"));
}

TEST_F(WrongSettingTest, AnEnsembleThatWasLostIsAdoptedOnce) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  StartWriter("t");
  WaitForWrites(10);
  for (const char* name : {"master-1", "rs-1"}) ASSERT_OK(cluster().Kill9(name));
  {
    auto session = zk::ZkSession::Open({cluster().zookeeper(), Millis{5'000}});
    ASSERT_OK(session);
    ASSERT_OK((*session)->WaitConnected(kPatience));
    const zk::ZkPaths paths;
    ASSERT_OK(ProcessCluster::WaitUntil("the sessions of the dead have ended", kPatience, [&] {
      const auto servers = (*session)->Children(paths.RegionServers());
      const auto master = zk::ReadMaster(**session, paths);
      return !master.ok() && master.error().code() == Code::kNotFound && servers.ok() && servers->empty();
    }));
    ASSERT_OK((*session)->Delete(paths.ClusterId()));
  }
  ExpectRefused("master-1", {}, {OurId(), "none"});
  ASSERT_OK(cluster().Start("master-1", {}, {"--adopt-zookeeper"}));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience));
  ASSERT_OK(cluster().Start("rs-1"));
  ASSERT_OK(cluster().WaitServing(kPatience));
  ASSERT_OK(cluster().Restart("master-1"));
}

TEST_F(WrongSettingTest, WhatAnotherClientWritesOverTheNodesIsPutRight) {
  Boot(2, 1);
  if (HasFatalFailure()) return;
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string before = RootState();
  auto session = zk::ZkSession::Open({cluster().zookeeper(), Millis{5'000}});
  ASSERT_OK(session);
  ASSERT_OK((*session)->WaitConnected(kPatience));
  const zk::ZkPaths paths;
  ASSERT_OK((*session)->Set(paths.Master(), "not a master"));
  ASSERT_OK(ProcessCluster::WaitUntil("clients find the master again", kPatience, [&] {
    const auto now = cluster().ActiveMaster();
    return now.ok() && *now == *active;
  }));
  ASSERT_OK((*session)->Delete(paths.ClusterId()));
  ASSERT_OK(ProcessCluster::WaitUntil("the cluster's id exists again", kPatience, [&] {
    const auto place = zk::ReadPlace(**session, paths);
    return place.ok() && place->cluster_id == OurId();
  }));
  EXPECT_EQ(RootState(), before);
}

}  // namespace
}  // namespace ratchet::chaos
