#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/driver/fault_loop.h"

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Records the operations on it in a common log.
class FakeTarget final : public Target {
 public:
  std::vector<std::string> log;
  Status serving = Ok();
  int broken = 0;
  int most_broken = 0;

  [[nodiscard]] std::string_view kind() const override { return "fake"; }
  [[nodiscard]] std::string zookeeper() const override { return ""; }
  [[nodiscard]] std::vector<std::string> Names(Role /*role*/) override { return {}; }
  [[nodiscard]] bool Running(const std::string& /*name*/) override { return true; }
  [[nodiscard]] Status Kill(const std::string& /*name*/) override { return Ok(); }
  [[nodiscard]] Status Start(const std::string& /*name*/, const Environment& /*extra*/) override { return Ok(); }
  [[nodiscard]] Status Pause(const std::string& /*name*/) override { return Ok(); }
  [[nodiscard]] Status Resume(const std::string& /*name*/) override { return Ok(); }
  [[nodiscard]] Result<std::string> ActiveMaster() override { return std::string("master-1"); }
  [[nodiscard]] Result<std::string> MetaHolder() override { return std::string("rs-1"); }
  [[nodiscard]] Status WaitServing(Millis /*timeout*/) override {
    log.emplace_back("settled");
    return serving;
  }
  [[nodiscard]] Status CheckRecovered() override { return serving; }
  [[nodiscard]] Millis session_timeout() const override { return Millis(100); }
  [[nodiscard]] ProcessCluster* processes() override { return nullptr; }
  [[nodiscard]] Links* links() override { return nullptr; }
  [[nodiscard]] Status Collect(const std::filesystem::path& /*folder*/) override { return Ok(); }
};

// "a" takes effect; "late" does at its third attempt; "never" does not; "stuck" cannot be healed; "long" lasts until
// the end; "patient" waits until nothing else is broken.
class FakeFault final : public Fault {
 public:
  FakeFault(std::string kind, int* attempts) : kind_(std::move(kind)), attempts_(attempts) {}
  [[nodiscard]] std::string_view kind() const override { return kind_; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& /*target*/) override { return std::nullopt; }
  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    auto& fake = static_cast<FakeTarget&>(target);
    if (kind_ == "never") return Error(Code::kIo, "no such thing");
    if (kind_ == "late" && ++*attempts_ < 3) return Error(Code::kNotFound, "not yet");
    if (kind_ == "patient") {
      const Status healed = WaitUntil("an end of all others", Millis(20'000), [&] {
        target.Meanwhile();
        return fake.broken == 0;
      });
      if (!healed.ok()) return healed.error();
    }
    fake.log.push_back("inject " + kind_);
    fake.most_broken = std::max(fake.most_broken, ++fake.broken);
    return FaultRecord{kind_, {fmt::format("rs-{}", prng.Below(1000))}, "seen", false, SystemClock().Now(), {}};
  }
  [[nodiscard]] std::optional<Millis> Duration(Prng& /*prng*/) override {
    return kind_ == "long" ? Millis(600'000) : Millis(5);
  }
  [[nodiscard]] Status Heal(Target& target) override {
    auto& fake = static_cast<FakeTarget&>(target);
    if (kind_ == "never") return Ok();
    --fake.broken;
    fake.log.push_back("heal " + kind_);
    return kind_ == "stuck" ? Status(Error(Code::kIo, "it stays down")) : Ok();
  }

 private:
  const std::string kind_;
  int* const attempts_;
};

class FaultLoopTest : public ::testing::Test {
 protected:
  FaultLoopOptions options_ = [] {
    FaultLoopOptions options;
    options.duration = Millis(60'000);
    options.traffic_patience = Millis(20);
    options.inject_patience = Millis(100);
    return options;
  }();
  FakeTarget target_;
  double traffic_ = 100;
  int attempts_ = 0;
  bool stop_ = false;
  int recoveries_ = 0;
  bool stop_when_settled_ = false;
  std::function<double()> traffic_of_;
  decltype(FaultLoopHooks::may_overlap) may_overlap_;

  FaultLoop Loop() {
    FaultLoopHooks hooks;
    hooks.make = [this](const std::string& kind) -> Result<std::unique_ptr<Fault>> {
      return std::unique_ptr<Fault>(std::make_unique<FakeFault>(kind, &attempts_));
    };
    hooks.traffic = [this] { return traffic_of_ ? traffic_of_() : traffic_; };
    hooks.wall_ms = [] { return SystemClock().WallMillis(); };
    hooks.before = [](FaultLine& line) { line.epoch_before = 3; };
    hooks.injected = [](const FaultLine& /*line*/) {};
    hooks.healed = [](const FaultLine& /*line*/) {};
    hooks.settled = [this](std::vector<FaultLine>& /*lines*/) {
      ++recoveries_;
      stop_ = stop_ || stop_when_settled_;
    };
    hooks.tick = [] {};
    hooks.stop = [this] { return stop_; };
    hooks.may_overlap = may_overlap_;
    return {target_, options_, std::move(hooks)};
  }
};

TEST_F(FaultLoopTest, OneAtATimeAndEachRecoveryAwaited) {
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}, {Millis(1), "b", 2}}).ok());
  EXPECT_THAT(target_.log, ElementsAre("inject a", "heal a", "settled", "inject b", "heal b", "settled"));
  ASSERT_EQ(loop.lines().size(), 2U);
  EXPECT_EQ(loop.lines()[0].epoch_before, 3U);
  EXPECT_TRUE(loop.lines()[0].healed_ms && loop.lines()[0].settled_ms);
  EXPECT_EQ(recoveries_, 2);
}

TEST_F(FaultLoopTest, SeveralAtATimeUpToTheIntensity) {
  options_.intensity = 2;
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}, {Millis(0), "b", 2}, {Millis(0), "c", 3}, {Millis(0), "d", 4}}).ok());
  EXPECT_EQ(target_.most_broken, 2);
  EXPECT_EQ(target_.broken, 0);
}

// Otherwise a fault that has ended long ago would count as unsettled until all others have ended.
TEST_F(FaultLoopTest, WhatIsHealedSettlesWhileOthersLast) {
  options_.intensity = 2;
  stop_when_settled_ = true;
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}, {Millis(0), "long", 2}, {Millis(50'000), "a", 3}}).ok());
  EXPECT_THAT(target_.log, ElementsAre("inject a", "inject long", "heal a", "heal long", "settled"));
  EXPECT_EQ(recoveries_, 2);
}

TEST_F(FaultLoopTest, WhatIsNotServedAgainDoesNotSettleWhileOthersLast) {
  options_.intensity = 2;
  target_.serving = Error(Code::kUnavailable, "2 regions in transition");
  FaultLoop loop = Loop();
  traffic_of_ = [this] {
    if (target_.broken == 2) stop_ = true;  // "a" is healed, "long" and another "a" are not
    return 100.0;
  };
  IgnoreResult(loop.Run({{Millis(0), "a", 1}, {Millis(0), "long", 2}, {Millis(300), "a", 3}}),
               "it does not serve in the end");
  ASSERT_GE(loop.lines().size(), 2U);
  EXPECT_FALSE(loop.lines()[0].settled_ms);
  EXPECT_EQ(recoveries_, 0);
}

// All servers may be down because of a fault that must be healed.
TEST_F(FaultLoopTest, FaultsAreHealedWhileWaitingForTraffic) {
  options_.intensity = 2;
  options_.traffic_floor = 50;
  options_.traffic_patience = Millis(20'000);
  traffic_of_ = [this] { return target_.broken == 0 ? 100.0 : 0.0; };
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}, {Millis(0), "b", 2}}).ok());
  ASSERT_EQ(loop.lines().size(), 2U);
  EXPECT_EQ(loop.lines()[1].traffic_before, 100);
}

TEST_F(FaultLoopTest, AFaultThatWaitsHasTheOthersHealedMeanwhile) {
  options_.intensity = 2;
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}, {Millis(0), "patient", 2}}).ok());
  EXPECT_THAT(target_.log, ElementsAre("inject a", "heal a", "inject patient", "heal patient", "settled"));
}

// A fault overlaps with the recovery from another fault, not only with that fault.
TEST_F(FaultLoopTest, WithSeveralAtATimeTheNextDoesNotWaitForTheRecovery) {
  options_.intensity = 2;
  target_.serving = Error(Code::kUnavailable, "2 regions in transition");
  FaultLoop loop = Loop();
  EXPECT_FALSE(loop.Run({{Millis(0), "a", 1}, {Millis(50), "b", 2}}).ok()) << "in the end it must recover";
  EXPECT_EQ(loop.lines().size(), 2U);
}

TEST_F(FaultLoopTest, WhatMustBeAloneWaitsForTheRecoveryOfAllOthers) {
  options_.intensity = 3;
  may_overlap_ = [](const auto& /*others*/, const auto& unsettled, const std::string& kind) {
    return kind != "b" || unsettled.empty();
  };
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}, {Millis(0), "b", 2}}).ok());
  EXPECT_THAT(target_.log, ElementsAre("inject a", "heal a", "settled", "inject b", "heal b", "settled"));
}

TEST_F(FaultLoopTest, AWholeRecoveryIsAwaitedNowAndThen) {
  options_.intensity = 2;
  options_.faults_between_rests = 2;
  FaultLoop loop = Loop();
  const PlannedFault one{Millis(0), "a", 1};
  ASSERT_TRUE(loop.Run({one, one, one}).ok());
  const auto third = std::find(target_.log.begin(), target_.log.end(), "settled");
  EXPECT_EQ(std::count(target_.log.begin(), third, "inject a"), 2);
  EXPECT_EQ(std::count(target_.log.begin(), third, "heal a"), 2) << "a rest begins when everything is healed";
}

TEST_F(FaultLoopTest, VictimsComeFromTheSeed) {
  FaultLoop one = Loop();
  ASSERT_TRUE(one.Run({{Millis(0), "a", 7}}).ok());
  FaultLoop other = Loop();
  ASSERT_TRUE(other.Run({{Millis(0), "a", 7}}).ok());
  EXPECT_EQ(one.lines()[0].victims, other.lines()[0].victims);
}

TEST_F(FaultLoopTest, AVictimThatIsOnItsWayIsWaitedFor) {
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "late", 1}}).ok());
  EXPECT_EQ(attempts_, 3);
  EXPECT_EQ(loop.lines()[0].error, "");
}

TEST_F(FaultLoopTest, AFaultWithoutEffectIsRecordedAsSuch) {
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "never", 1}, {Millis(0), "a", 1}}).ok());
  ASSERT_EQ(loop.lines().size(), 2U);
  EXPECT_THAT(loop.lines()[0].error, HasSubstr("no such thing"));
  EXPECT_EQ(loop.lines()[1].error, "");
}

TEST_F(FaultLoopTest, TooLittleTrafficIsRecorded) {
  options_.traffic_floor = 500;
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}}).ok());
  EXPECT_EQ(loop.lines()[0].traffic_before, 100);
}

TEST_F(FaultLoopTest, AClusterThatDoesNotComeBackEndsTheRunAndNamesTheFault) {
  target_.serving = Error(Code::kTimeout, "2 regions in transition");
  FaultLoop loop = Loop();
  const Status done = loop.Run({{Millis(0), "a", 1}, {Millis(0), "b", 1}});
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message(), HasSubstr("after a of rs-"));
  EXPECT_THAT(done.error().message(), HasSubstr("2 regions in transition"));
  EXPECT_THAT(target_.log, ElementsAre("inject a", "heal a", "settled"));
}

TEST_F(FaultLoopTest, WhatCannotBeHealedIsAnErrorAndTheRestIsHealed) {
  options_.intensity = 2;
  FaultLoop loop = Loop();
  const Status done = loop.Run({{Millis(0), "stuck", 1}, {Millis(0), "a", 1}});
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message(), HasSubstr("healing stuck"));
  EXPECT_EQ(target_.broken, 0);
}

TEST_F(FaultLoopTest, NothingIsInjectedAfterAStop) {
  stop_ = true;
  FaultLoop loop = Loop();
  ASSERT_TRUE(loop.Run({{Millis(0), "a", 1}}).ok());
  EXPECT_TRUE(loop.lines().empty());
}

}  // namespace
}  // namespace ratchet::chaos
