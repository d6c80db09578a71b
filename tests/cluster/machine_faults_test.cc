// Faults of syncs, clocks, disks and at named points on a real cluster.
#include <fmt/ranges.h>

#include "chaos/disk/loop_disk.h"
#include "chaos/faults/victims.h"
#include "tests/cluster/faults_fixture.h"

namespace ratchet::chaos {
namespace {

class MachineFaultsTest : public FaultsTest {
 protected:
  void Configure(ClusterSpec& /*spec*/, LocalTargetOptions& options) override {
    options.links = false;
    options.disk_bytes = 4ULL << 30;
  }
};

// Several forms of each fault: on masters and region servers, before a start and later, within and beyond the limits.
TEST_F(MachineFaultsTest, OfClocks) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHealEach(
      {"clock-jump", "clock-drift", "clock-jump", "clock-jump", "clock-drift", "clock-jump", "clock-jump"});
}

TEST_F(MachineFaultsTest, OfSyncs) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHealEach({"slow-sync", "stalled-sync", "failing-sync"});
}

TEST_F(MachineFaultsTest, OfReadsAndListings) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHealEach({"list-error", "read-error", "list-error", "read-error"});
}

TEST_F(MachineFaultsTest, OfWritesCallsAndNames) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHealEach({"read-only-root", "no-inodes", "nth-call", "nth-call", "nth-call", "no-dns"});
}

TEST_F(MachineFaultsTest, OfDescriptorsMemoryAndConnections) {
  BreakAndHealEach({"few-descriptors", "connection-flood", "hostile-client", "little-memory", "few-descriptors"});
}

// The cluster continues unchanged; a second master that claimed the procedure store would depose the first.
TEST_F(MachineFaultsTest, OfWrongSettings) {
  std::map<std::string, std::string> names;
  for (const auto& info : target_->processes()->Processes()) names[info.name] = info.serving_as;
  BreakAndHealEach({"wrong-setting", "wrong-setting", "wrong-setting", "wrong-setting"});
  for (const auto& [name, serving_as] : names) {
    EXPECT_EQ(target_->CameAgain(name), 0U) << name;
    EXPECT_EQ(target_->processes()->Info(name).serving_as, serving_as) << name;
  }
}

TEST_F(MachineFaultsTest, OfEveryDescriptor) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHealEach({"no-descriptors-system", "no-descriptors-system"});
}

TEST_F(MachineFaultsTest, OfTheDisk) {
  if (target_->disk() == nullptr) GTEST_SKIP() << "a loop-mounted disk needs root";
  BreakAndHealEach({"full-disk", "disk-nearly-full", "power-failure", "power-failure"});
}

// The disk is full, a process dies and is restarted, and only 64 MiB become free: all regions are served again without
// an operator.
TEST_F(MachineFaultsTest, OfAFullDiskOfWhich64MiBBecomeFree) {
  if (target_->disk() == nullptr) GTEST_SKIP() << "a loop-mounted disk needs root";
  Prng prng(seed_);
  for (const PickVictims pick :
       {PickActiveMaster, PickMetaHolder, PickServer, PickMasterAndMetaHolder, PickAllServers}) {
    ASSERT_TRUE(target_->disk()->Fill().ok());
    const auto victims = pick(*target_, prng);
    ASSERT_TRUE(victims.ok()) << victims.error().ToString();
    const std::string dead = fmt::format("{}", fmt::join(*victims, ", "));
    SCOPED_TRACE(dead);
    watch_.At(dead);
    for (const auto& name : *victims) ASSERT_TRUE(target_->Kill(name).ok());
    // Their crash procedures fail for lack of space, or wait for a master.
    const auto until = SystemClock().Now() + 3 * target_->session_timeout();
    for (int round = 0; SystemClock().Now() < until; ++round) PollPause(round);
    for (const auto& name : *victims) ASSERT_TRUE(target_->Start(name).ok());
    ASSERT_TRUE(target_->disk()->GiveBack(64U << 20U).ok());
    const auto freed = SystemClock().Now();
    const Status serving = target_->WaitServing(kPatience);
    ASSERT_TRUE(serving.ok()) << serving.error().ToString();
    const std::size_t enough = writer_->acknowledged() + 20;
    const Status writes = WaitUntil("writes", kPatience, [&] { return writer_->acknowledged() >= enough; });
    ASSERT_TRUE(writes.ok()) << writes.error().ToString();
    const auto left = target_->disk()->Left();
    std::printf("%-28s served %lld ms after 64 MiB were free, %lld MiB left\n", dead.c_str(),
                static_cast<long long>(std::chrono::duration_cast<Millis>(SystemClock().Now() - freed).count()),
                static_cast<long long>(left.ok() ? *left >> 20U : 0));
    ASSERT_TRUE(target_->disk()->Free().ok());
  }
}

TEST_F(MachineFaultsTest, AtNamedPoints) {
  BreakAndHealEach({"at:regionserver.after_open", "at:log.before_check@5", "at:io.sync=delay:500",
                    "step:ServerCrash:SPLIT_LOG", "step:TransitRegionState:CONFIRM_CLOSED",
                    "step:SplitWal:ACQUIRE_SPLIT_WAL_WORKER", "step:RegisterServer:RECORD"});
}

// The seed chooses the point and the step.
TEST_F(MachineFaultsTest, AtRandomPoints) {
  BreakAndHealEach({"fault-point", "kill-at-step", "fault-point", "kill-at-step"});
}

}  // namespace
}  // namespace ratchet::chaos
