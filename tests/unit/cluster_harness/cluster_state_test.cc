#include "chaos/cluster/cluster_state.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "chaos/cluster/cluster_view.h"
#include "chaos/cluster/kept_settings.h"

namespace ratchet::chaos {
namespace {

class ClusterStateTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(dir_); }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  const std::filesystem::path dir_ = testing::TempDir() + "ratchet_state_" + std::to_string(getpid());
};

ProcessInfo Process(const std::string& name, Role role, std::uint16_t port, int pid) {
  ProcessInfo info;
  info.name = name;
  info.role = role;
  info.port = port;
  info.id = {pid, pid == 0 ? 0u : 4711u};
  return info;
}

TEST_F(ClusterStateTest, ReadsBackWhatItWrote) {
  ClusterState state;
  state.spec.dir = dir_;
  state.spec.bin = "/opt/ratchet/bin";
  state.spec.session_timeout = Millis(1500);
  state.spec.server_flags = {"--handlers", "4"};
  state.settings = {{"RATCHET_PUBLISH_CLIENT_ZNODES", "true"}, {"RATCHET_CONFIG", "/etc/with = and space"}};
  state.processes = {Process("zookeeper", Role::kZooKeeper, 20001, 100), Process("master-1", Role::kMaster, 20002, 0),
                     Process("rs-1", Role::kRegionServer, 20003, 102)};
  ASSERT_TRUE(SaveState(state).ok());
  const auto loaded = LoadState(dir_);
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->spec.bin, state.spec.bin);
  EXPECT_EQ(loaded->spec.session_timeout, Millis(1500));
  EXPECT_EQ(loaded->spec.server_flags, state.spec.server_flags);
  EXPECT_EQ(loaded->settings, state.settings);
  EXPECT_EQ(loaded->spec.masters, 1);
  EXPECT_EQ(loaded->spec.servers, 1);
  ASSERT_EQ(loaded->processes.size(), 3u);
  EXPECT_EQ(loaded->processes[2].name, "rs-1");
  EXPECT_EQ(loaded->processes[2].id, state.processes[2].id);
  EXPECT_EQ(loaded->processes[2].port, 20003);
  EXPECT_EQ(loaded->processes[1].id.pid, 0);
  EXPECT_EQ(loaded->spec.zookeepers, 1);
  EXPECT_TRUE(loaded->zookeeper_peers.empty());
}

// A process that is started again in another shell keeps the settings of `up`, except those that belong to one run.
TEST_F(ClusterStateTest, SettingsOfTheShellAreKept) {
  EXPECT_TRUE(IsKeptSetting("RATCHET_PUBLISH_CLIENT_ZNODES"));
  EXPECT_TRUE(IsKeptSetting("RATCHET_MASTER_HANDLERS"));
  for (const char* other : {"PATH", "RATCHET_ZOOKEEPER", "RATCHET_MASTER", "RATCHET_FAULTS", "RATCHET_TEST_SESSION_MS",
                            "RATCHET_MUTANT", "RATCHET_MUTANT_TIMES", "RATCHET_SHIM"})
    EXPECT_FALSE(IsKeptSetting(other)) << other;
  const Environment kept = {{"RATCHET_A", "up"}, {"RATCHET_B", "up"}};
  EXPECT_EQ(Inherited(kept, {}), kept);
  EXPECT_EQ(Inherited(kept, {{"RATCHET_B", "now"}}), (Environment{{"RATCHET_A", "up"}}));
  ClusterState broken;
  broken.spec.dir = dir_;
  broken.settings = {{"RATCHET_A", "two\nlines"}};
  EXPECT_FALSE(SaveState(broken).ok());
}

TEST_F(ClusterStateTest, ReadsBackAnEnsemble) {
  ClusterState state;
  state.spec.dir = dir_;
  state.spec.bin = "/opt/ratchet/bin";
  for (int i = 1; i <= 3; ++i) {
    const auto port = static_cast<std::uint16_t>(20000 + i);
    state.processes.push_back(Process("zookeeper-" + std::to_string(i), Role::kZooKeeper, port, 100 + i));
    state.zookeeper_peers.push_back({static_cast<std::uint16_t>(port + 10), static_cast<std::uint16_t>(port + 20)});
  }
  ASSERT_TRUE(SaveState(state).ok());
  const auto loaded = LoadState(dir_);
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->spec.zookeepers, 3);
  EXPECT_EQ(loaded->zookeeper_peers, state.zookeeper_peers);
}

TEST_F(ClusterStateTest, ADirectoryWithoutAClusterIsLeftAlone) {
  EXPECT_EQ(LoadState(dir_).error().code(), Code::kNotFound);
  std::ofstream(StateFile(dir_)) << "something else\n";
  EXPECT_EQ(LoadState(dir_).error().code(), Code::kCorruption);
  std::ofstream(StateFile(dir_)) << "ratchet cluster 1\nprocess\trs-1\tregionserver\n";
  EXPECT_NE(LoadState(dir_).error().message().find("cluster.state:2"), std::string::npos);
}

// A master's answer without problems, and matching processes.
struct Serving {
  Serving() {
    status.set_role(pb::GetStatusResponse::ACTIVE);
    status.set_meta_state("OPEN");
    for (const std::uint32_t port : {1u, 2u}) {
      status.add_live_server()->set_host_name("127.0.0.1");
      status.mutable_live_server(status.live_server_size() - 1)->set_port(port);
      status.mutable_live_server(status.live_server_size() - 1)->set_start_code(7);
    }
    processes = {Process("rs-1", Role::kRegionServer, 1, 11), Process("rs-2", Role::kRegionServer, 2, 12)};
    processes[0].serving_as = "127.0.0.1,1,7";
    processes[1].serving_as = "127.0.0.1,2,7";
  }
  [[nodiscard]] bool ok() const { return CheckServing(status, processes).ok(); }
  pb::GetStatusResponse status;
  std::vector<ProcessInfo> processes;
};

TEST(CheckServingTest, WantsMetaOpenAndNothingUnderWay) {
  EXPECT_TRUE(Serving().ok());
  Serving serving;
  serving.status.set_meta_state("OPENING");
  EXPECT_FALSE(serving.ok());
  serving = Serving();
  serving.status.set_role(pb::GetStatusResponse::ACTIVATING);
  EXPECT_FALSE(serving.ok());
  serving = Serving();
  serving.status.set_regions_in_transition(1);
  EXPECT_FALSE(serving.ok());
  serving = Serving();
  serving.status.add_dead_server()->set_host_name("127.0.0.1");
  EXPECT_FALSE(serving.ok());
}

TEST(CheckServingTest, WantsTheMastersListToBeWhatReallyRuns) {
  Serving serving;
  serving.processes[1].id = {};  // killed a moment ago: the master does not know yet
  EXPECT_FALSE(serving.ok());
  serving = Serving();
  serving.processes.push_back(Process("rs-3", Role::kRegionServer, 3, 13));  // started a moment ago
  EXPECT_FALSE(serving.ok());
  serving.processes.back().paused = true;  // whatever the master knows about it
  EXPECT_TRUE(serving.ok());
  serving = Serving();
  serving.processes[1].serving_as = "127.0.0.1,2,8";  // restarted: the master still counts the earlier incarnation
  EXPECT_FALSE(serving.ok());
  serving.processes[1].serving_as = "";
  EXPECT_FALSE(serving.ok());
}

}  // namespace
}  // namespace ratchet::chaos
