// An ensemble with a member that lags behind: the leader's changes arrive late there, and until then it answers from
// the past.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "chaos/cluster/zookeeper_process.h"
#include "chaos/network/links.h"
#include "common/zk/server_liveness.h"

namespace ratchet::zk {
namespace {

using chaos::ZooKeeperProcess;

constexpr Millis kEnsemblePatience{60'000};
constexpr Millis kLag{500};

class EnsembleTest : public testing::Test {
 protected:
  // The third member talks to the second, which leads, through a proxy.
  void SetUp() override {
    std::vector<chaos::ZooKeeperPeer> peers;
    for (int i = 0; i < 3; ++i) peers.push_back({*chaos::PickFreePort(), *chaos::PickFreePort()});
    const std::uint16_t proxied = *chaos::PickFreePort();
    auto links = chaos::Links::Start({{"leader", "lagging", proxied, peers[1].quorum_port}}, 1);
    ASSERT_TRUE(links.ok()) << links.error().ToString();
    links_ = std::move(*links);
    for (int i = 1; i <= 3; ++i) {
      chaos::ZooKeeperSpec spec;
      spec.dir = dir_ / std::to_string(i);
      spec.log = dir_ / fmt::format("{}.log", i);
      spec.tick = Millis(1'000);  // the lag is far from what makes a follower be given up
      spec.number = i;
      spec.peers = peers;
      if (i == 3) spec.peers[1].quorum_port = proxied;
      auto member = ZooKeeperProcess::Prepare(spec);
      ASSERT_TRUE(member.ok()) << member.error().ToString();
      members_.push_back(std::move(*member));
    }
    // If two members have no data, the one with the larger number is elected; a later one follows it.
    for (const std::size_t i : {0U, 1U}) ASSERT_TRUE(members_[i].Launch().ok());
    ASSERT_TRUE(Await(1, "leader"));
    ASSERT_TRUE(members_[2].Launch().ok());
    ASSERT_TRUE(Await(2, "follower"));
  }
  void TearDown() override {
    for (auto& member : members_) IgnoreResult(member.Kill9(), "nothing of it is kept");
    links_.reset();
    std::filesystem::remove_all(dir_);
  }

  [[nodiscard]] bool Await(std::size_t i, const std::string& mode) {
    return chaos::WaitUntil(
               mode, kEnsemblePatience,
               [&] {
                 return chaos::ParseZooKeeperState(chaos::AskZooKeeper(members_[i].port(), "srvr", Millis(500))).mode ==
                        mode;
               })
        .ok();
  }
  [[nodiscard]] std::unique_ptr<ZkSession> ConnectTo(std::size_t i) {
    auto session = ZkSession::Open({members_[i].address(), Millis(20'000)});
    EXPECT_TRUE(session.ok() && (*session)->WaitConnected(kEnsemblePatience).ok());
    return std::move(*session);
  }

  const std::filesystem::path dir_ = testing::TempDir() + "ratchet_ensemble_" + std::to_string(getpid());
  const ZkPaths paths_{};
  std::unique_ptr<chaos::Links> links_;
  std::vector<ZooKeeperProcess> members_;
};

// A server registers, then reports to the master; a master that does not find it in ZooKeeper then treats it as dead.
TEST_F(EnsembleTest, LiveServersIncludeRegistrationsAtOtherMembers) {
  const auto server = ConnectTo(1);
  const auto master = ConnectTo(2);
  ASSERT_TRUE(server->EnsurePath(paths_.RegionServers()).ok());
  ASSERT_TRUE(chaos::WaitUntil("the folder at the lagging member", kEnsemblePatience, [&] {
                return master->Children(paths_.RegionServers()).ok();
              }).ok());
  links_->Set({"lagging", "leader"}, {.delay = kLag});
  for (const std::uint16_t port : {std::uint16_t{2001}, std::uint16_t{2002}}) {
    const ServerName name{"localhost", port, 11};
    ASSERT_TRUE(RegisterRegionServer(*server, paths_, name, "1.0", kEnsemblePatience).ok());
    const auto plain = master->Children(paths_.RegionServers());
    ASSERT_TRUE(plain.ok());
    EXPECT_EQ(std::count(plain->begin(), plain->end(), name.ToString()), 0)
        << "the member does not lag: nothing is tested";
    const auto live = ReadLiveServers(*master, paths_);
    ASSERT_TRUE(live.ok()) << live.error().ToString();
    EXPECT_EQ(std::count(live->begin(), live->end(), name), 1) << "registered, but treated as dead";
  }
  links_->ClearAll();
}

}  // namespace
}  // namespace ratchet::zk
