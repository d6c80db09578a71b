// A cluster that was stopped as a whole restarts itself; a server whose storage hangs gives its regions up.
#include "chaos/shim/process_shims.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/faults_fixture.h"

namespace ratchet::chaos {
namespace {

class HangTest : public FaultsTest {
 protected:
  void Configure(ClusterSpec& spec, LocalTargetOptions& options) override {
    options.links = false;
    // Runs one test without automatic restarts, to check that the fault detects this.
    if (::testing::UnitTest::GetInstance()->current_test_info()->name() ==
        std::string("AClusterThatStaysDownIsNoticed")) {
      spec.environment["RATCHET_START_AGAIN"] = "false";
    }
  }

  bool Hang(const std::string& name, bool hang) {
    const auto control = target_->shims()->Of(name);
    if (control.ok()) (*control)->sync_delay_ms = hang ? 3'600'000 : 0;
    return control.ok();
  }
  // Returns the problems that the active master shows.
  std::string Problems() {
    const auto active = target_->ActiveMaster();
    if (!active.ok()) return "";
    const auto status = target_->processes()->StatusOf(*active);
    std::string all;
    if (status.ok()) {
      for (const auto& problem : status->problem()) all += problem + "; ";
    }
    return all;
  }
};

TEST_F(HangTest, AClusterThatWasStoppedComesBackByItself) {
  BreakAndHealEach({"pause-everything", "pause-everything"});
  EXPECT_TRUE(deaths_.empty());
  std::uint32_t again = 0;
  for (const Role role : {Role::kMaster, Role::kRegionServer}) {
    for (const auto& name : target_->Names(role)) again += target_->CameAgain(name);
  }
  EXPECT_GT(again, 0U) << "none had lost its session: the pause was too short to show anything";
  // `status` shows the number and the cause of the restarts.
  client::Admin admin(*connection_);
  const auto servers = admin.Call(methods::kListServers, pb::ListServersRequest());
  ASSERT_TRUE(servers.ok()) << servers.error().ToString();
  for (const auto& row : servers->server()) {
    for (const auto& name : target_->Names(Role::kRegionServer)) {
      if (target_->processes()->Info(name).port != row.server().port()) continue;
      EXPECT_EQ(row.came_again(), target_->CameAgain(name)) << name;
      EXPECT_EQ(row.came_again() > 0, row.came_again_why().find("code 2") != std::string::npos) << row.came_again_why();
    }
  }
}

TEST_F(HangTest, AClusterThatStaysDownIsNoticed) {
  Prng prng(seed_);
  auto fault = MakeFault("pause-everything");
  ASSERT_TRUE(fault.ok());
  ASSERT_TRUE((*fault)->Inject(*target_, prng).ok());
  const auto until = SystemClock().Now() + target_->session_timeout() * 4;
  for (int round = 0; SystemClock().Now() < until; ++round) PollPause(round);
  const Status healed = (*fault)->Heal(*target_);
  ASSERT_FALSE(healed.ok()) << "everybody had ended";
  EXPECT_NE(healed.error().message().find("ended permanently"), std::string::npos) << healed.error().ToString();
  ASSERT_TRUE(target_->WaitServing(kPatience).ok());  // starts processes that have ended
}

TEST_F(HangTest, AServerWhoseStorageHangsIsShownAndGivesItsRegionsUp) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  const auto holder = target_->MetaHolder();
  ASSERT_TRUE(holder.ok());
  ASSERT_TRUE(Hang(*holder, true));
  const std::string port = fmt::format(",{},", target_->processes()->Info(*holder).port);
  const Status shown = WaitUntil("the hanging server among the problems", kPatience,
                                 [&] { return Problems().find(port) != std::string::npos; });
  EXPECT_TRUE(shown.ok()) << Problems();
  const Status left = WaitUntil("its withdrawal", kPatience, [&] { return target_->CameAgain(*holder) > 0; });
  ASSERT_TRUE(left.ok()) << left.error().ToString();
  // The server still hangs, and the other servers serve all regions.
  const std::size_t enough = writer_->acknowledged() + 200;
  const Status writes = WaitUntil("writes without it", kPatience, [&] { return writer_->acknowledged() >= enough; });
  EXPECT_TRUE(writes.ok()) << writes.error().ToString();
  ASSERT_TRUE(Hang(*holder, false));
  const Status serving = target_->WaitServing(kPatience);
  EXPECT_TRUE(serving.ok()) << serving.error().ToString();
  EXPECT_EQ(Problems(), "");
}

TEST_F(HangTest, AMasterWhoseStorageHangsMakesRoomForAnother) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHeal("hung-sync-master");
}

// The master hangs in its activation, before any server reports to it.
TEST_F(HangTest, AMasterWhoseStorageHangsWhenItIsElectedMakesRoomForAnother) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  const auto active = target_->ActiveMaster();
  ASSERT_TRUE(active.ok());
  const std::string first = *active;
  const std::string second = first == "master-1" ? "master-2" : "master-1";
  ASSERT_TRUE(Hang(second, true));
  ASSERT_TRUE(target_->Kill(first).ok());
  const Status elected = WaitUntil("the election of the other", kPatience, [&] {
    const auto now = target_->ActiveMaster();
    return now.ok() && *now == second;
  });
  ASSERT_TRUE(elected.ok()) << elected.error().ToString();
  ASSERT_TRUE(target_->Start(first).ok());
  const Status left = WaitUntil("its withdrawal", kPatience, [&] { return target_->CameAgain(second) > 0; });
  EXPECT_TRUE(left.ok());
  const Status back = WaitUntil("the first in office", kPatience, [&] {
    const auto now = target_->ActiveMaster();
    return now.ok() && *now == first;
  });
  EXPECT_TRUE(back.ok());
  ASSERT_TRUE(Hang(second, false));
  const Status serving = target_->WaitServing(kPatience);
  EXPECT_TRUE(serving.ok()) << serving.error().ToString();
}

TEST_F(HangTest, NoServerWithdrawsIfAllHang) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHeal("hung-sync-everywhere");
}

}  // namespace
}  // namespace ratchet::chaos
