// The cluster's switches: the operations that they prevent, and that they outlive the master.
#include "master/cluster/switches.h"
#include "master/repair/reconciler.h"
#include "master/requests/switch_admin.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {
namespace {

class SwitchTest : public ReshapeTest {
 protected:
  // The earlier state of each; unset until the answer has come.
  using Answer = std::shared_ptr<std::optional<Result<std::vector<bool>>>>;
  Answer Ask(std::vector<Switch> switches, bool on, bool and_wait = false) {
    auto answer = std::make_shared<std::optional<Result<std::vector<bool>>>>();
    master().logic().switch_admin.Set({std::move(switches), on, and_wait, {"me", {}}},
                                      [answer](Result<std::vector<bool>> before) { *answer = std::move(before); });
    return answer;
  }
  std::vector<bool> Set(std::vector<Switch> switches, bool on) {
    const Answer answer = Ask(std::move(switches), on);
    EXPECT_TRUE(cluster_.RunUntil([&] { return answer->has_value(); }));
    return (*answer)->ok() ? ***answer : std::vector<bool>{};
  }
  bool IsOn(Switch which) { return master().logic().switches.IsOn(which); }
  void FailOver() {
    cluster_.KillMaster();
    cluster_.StartMaster();
    ExpectSettled();
  }
};

TEST_F(SwitchTest, NamesAndDefaults) {
  for (const Switch each : kSwitches) {
    EXPECT_EQ(SwitchNamed(SwitchName(each)), each);
    EXPECT_EQ(DefaultOf(each), each != Switch::kNormalizer);
    Switches switches;
    EXPECT_EQ(switches.IsOn(each), DefaultOf(each));
    for (const bool on : {false, true}) {
      switches.Show(each, on ? "on" : "off");
      EXPECT_EQ(switches.IsOn(each), on);
    }
    switches.Show(each, "perhaps");
    EXPECT_EQ(switches.IsOn(each), DefaultOf(each));
  }
  EXPECT_EQ(SwitchNamed("compaction"), std::nullopt);
}

TEST_F(SwitchTest, SwitchesSurviveAFailoverAndReturnThePreviousValue) {
  cluster_.Boot(2);
  EXPECT_EQ(Set({Switch::kSplit, Switch::kNormalizer}, true), (std::vector<bool>{true, false}));
  EXPECT_EQ(Set({Switch::kSplit, Switch::kBalancer}, false), (std::vector<bool>{true, true}));
  FailOver();
  EXPECT_FALSE(IsOn(Switch::kSplit));
  EXPECT_FALSE(IsOn(Switch::kBalancer));
  EXPECT_TRUE(IsOn(Switch::kNormalizer));
  EXPECT_TRUE(IsOn(Switch::kMerge));
  EXPECT_EQ(Set({Switch::kSplit}, true), (std::vector<bool>{false}));
  FailOver();
  EXPECT_TRUE(IsOn(Switch::kSplit));
  const auto nothing = Ask({}, true);
  EXPECT_TRUE(cluster_.RunUntil([&] { return nothing->has_value(); }));
  EXPECT_FALSE((*nothing)->ok()) << "no switch was named";
}

TEST_F(SwitchTest, SplitsAndMergesDoNotBeginWhileTheyAreOff) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  (void)Set({Switch::kSplit, Switch::kMerge}, false);
  const auto split = Split(Encoded("t"), "a5");
  ASSERT_FALSE(split.ok());
  EXPECT_NE(split.error().message().find("splits are switched off"), std::string::npos) << split.error().message();
  const auto merge = Merge({Encoded("t", 0), Encoded("t", 1)});
  ASSERT_FALSE(merge.ok());
  EXPECT_NE(merge.error().message().find("merges are switched off"), std::string::npos) << merge.error().message();
  (void)Set({Switch::kSplit, Switch::kMerge}, true);
  ASSERT_TRUE(Split(Encoded("t"), "a5").ok());
  ExpectLive(3);
}

// An operation that was requested before the switch was set checks the switch again under its locks.
TEST_F(SwitchTest, ASplitThatHasNotBegunIsRefusedWhenItIsSwitchedOff) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto creation = procedure::PauseScope::Type("SplitTableRegion");
  bool paused = false;
  master().executor().Pause(creation, {"me", "test"}, Millis(0), [&](const auto& ok) { paused = ok.ok(); });
  ASSERT_TRUE(cluster_.RunUntil([&] { return paused; }));
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(pid.ok());
  (void)Set({Switch::kSplit}, false);
  master().executor().Resume(creation, {"me", "test"}, [](const Status&) {});
  ExpectLive(1);
  EXPECT_NE(Outcome(pid).find("splits are switched off"), std::string::npos) << Outcome(pid);
}

TEST_F(SwitchTest, AnAnswerWaitsForSplitsThatHaveBegun) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  const auto pid = Split(Encoded("t"), "m");
  ASSERT_TRUE(RunTo("SplitTableRegion", "CLOSE_PARENT_REGION"));
  const Answer answer = Ask({Switch::kSplit}, false, /*and_wait=*/true);
  ASSERT_TRUE(cluster_.RunUntil([&] { return answer->has_value(); }));
  EXPECT_EQ(Outcome(pid), "success") << "it was waited for, and nothing was undone";
  EXPECT_FALSE(IsOn(Switch::kSplit));
}

TEST_F(SwitchTest, TheJanitorRestsWhileItIsOff) {
  cluster_.Boot(3);
  GivenTable("t", 1);
  ASSERT_TRUE(Split(Encoded("t"), "m").ok());
  (void)Set({Switch::kCatalogJanitor}, false);
  ExpectLive(2);
  LetTheJanitorCome();
  EXPECT_EQ(Directories(), 3U) << "the parent's is there";
  (void)Set({Switch::kCatalogJanitor}, true);
  EXPECT_EQ(master().logic().reconciler.RemoveGarbageNow(), 1U);
  ExpectSettled();
  EXPECT_EQ(Directories(), 2U);
}

}  // namespace
}  // namespace ratchet::master
