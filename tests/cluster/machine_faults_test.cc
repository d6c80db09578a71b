// Faults of syncs, clocks, disks and at named points on a real cluster.
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

TEST_F(MachineFaultsTest, OfSyncsAndClocks) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHealEach({"slow-sync", "stalled-sync", "failing-sync", "clock-jump", "clock-drift"});
}

TEST_F(MachineFaultsTest, OfReadsAndListings) {
  if (target_->shims() == nullptr) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
  BreakAndHealEach({"list-error", "read-error", "list-error", "read-error"});
}

TEST_F(MachineFaultsTest, OfDescriptorsMemoryAndConnections) {
  BreakAndHealEach({"few-descriptors", "connection-flood", "hostile-client", "little-memory", "few-descriptors"});
}

// The cluster runs on as it was: a second master that claims the procedure store deposes the first.
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

TEST_F(MachineFaultsTest, AtNamedPoints) {
  BreakAndHealEach({"at:regionserver.after_open", "at:log.before_check@5", "at:io.sync=delay:500", "step:ServerCrash:SPLIT_LOG",
                    "step:TransitRegionState:CONFIRM_CLOSED", "step:SplitWal:ACQUIRE_SPLIT_WAL_WORKER",
                    "step:RegisterServer:RECORD"});
}

// Which point and which step, the seed decides.
TEST_F(MachineFaultsTest, AtRandomPoints) { BreakAndHealEach({"fault-point", "kill-at-step", "fault-point", "kill-at-step"}); }

}  // namespace
}  // namespace ratchet::chaos
