#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/driver/options.h"
#include "chaos/driver/scenario.h"
#include "chaos/faults/fault.h"
#include "common/base/exit_codes.h"

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<WeightedFault> kMix = {{"a", 2}, {"b", 1}, {"c", 1}};

TEST(ScheduleTest, SameSeedSameSchedule) {
  const auto one = MakeSchedule(kMix, Millis(60'000), Millis(2'000), 7);
  EXPECT_EQ(one, MakeSchedule(kMix, Millis(60'000), Millis(2'000), 7));
  EXPECT_NE(one, MakeSchedule(kMix, Millis(60'000), Millis(2'000), 8));
}

TEST(ScheduleTest, ALongerRunBeginsLikeAShorterOne) {
  const auto shorter = MakeSchedule(kMix, Millis(20'000), Millis(2'000), 7);
  auto longer = MakeSchedule(kMix, Millis(60'000), Millis(2'000), 7);
  ASSERT_GT(longer.size(), shorter.size());
  longer.resize(shorter.size());
  EXPECT_EQ(longer, shorter);
}

TEST(ScheduleTest, EachTurnOfTheDeckHasEveryKindAsOftenAsItWeighs) {
  const auto planned = MakeSchedule(kMix, Millis(80'000), Millis(1'000), 3);
  ASSERT_EQ(planned.size(), 80U);
  for (std::size_t turn = 0; turn < planned.size(); turn += 4) {
    std::map<std::string, int> dealt;
    for (std::size_t i = turn; i < turn + 4; ++i) ++dealt[planned[i].kind];
    EXPECT_EQ(dealt, (std::map<std::string, int>{{"a", 2}, {"b", 1}, {"c", 1}}));
  }
}

TEST(ScheduleTest, TimesKeepTheirOrderAndStayWithinTheDuration) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Millis before{0};
    for (const auto& planned : MakeSchedule(kMix, Millis(30'000), Millis(700), seed)) {
      EXPECT_GE(planned.at, before);
      EXPECT_LT(planned.at, Millis(30'000));
      before = planned.at;
    }
  }
}

TEST(ScheduleTest, NothingToDoIsAnEmptySchedule) {
  EXPECT_TRUE(MakeSchedule({}, Millis(30'000), Millis(700), 1).empty());
}

TEST(ScenarioTest, EveryKindThatAScenarioNamesExists) {
  for (const auto& scenario : Scenarios()) {
    EXPECT_GT(scenario.period.count(), 0) << scenario.name;
    for (const auto& fault : scenario.mix) {
      EXPECT_TRUE(MakeFault(fault.kind).ok()) << scenario.name << " names " << fault.kind;
      EXPECT_GT(fault.weight, 0);
    }
  }
}

TEST(ScenarioTest, FaultsOverlapInTheLargeMixes) {
  EXPECT_GE(FindScenario("everything")->intensity, 2U);
  EXPECT_GE(FindScenario("overlap")->intensity, 2U);
  EXPECT_LE(FindScenario("overlap")->intensity, 3U);
}

TEST(ScenarioTest, AnUnknownOneIsAnsweredWithThoseThatExist) {
  const auto found = FindScenario("nonsense");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message(), HasSubstr("serverKilling"));
}

TEST(ScenarioTest, KillStepByNumberAndByName) {
  EXPECT_EQ(*KillStepKind("ServerCrash:3"), "at:executor.after_commit~ServerCrash:=crash@2");
  EXPECT_EQ(*KillStepKind("ServerCrash:SPLIT_LOG"), "step:ServerCrash:SPLIT_LOG");
  for (const char* wrong : {"ServerCrash", "ServerCrash:", ":3", "ServerCrash:0"}) {
    EXPECT_FALSE(KillStepKind(wrong).ok()) << wrong;
  }
}

TEST(PlanTest, EverythingIsEveryKind) {
  const auto plan = MakePlan(ChaosOptions{}, {"x", "y"});
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->mix, ElementsAre(WeightedFault{"x", 1}, WeightedFault{"y", 1}));
}

TEST(PlanTest, FaultsThatAreNamedReplaceTheScenarioUnlessItIsNamedToo) {
  ChaosOptions options;
  options.at = {"io.sync=fail"};
  EXPECT_THAT(MakePlan(options, {"x"})->mix, ElementsAre(WeightedFault{"at:io.sync=fail", 1}));
  options.scenario = "everything";
  EXPECT_THAT(MakePlan(options, {"x"})->mix, ElementsAre(WeightedFault{"x", 1}, WeightedFault{"at:io.sync=fail", 1}));
}

TEST(PlanTest, FlagsOverrideTheScenariosPeriodAndIntensity) {
  ChaosOptions options;
  options.scenario = "zombies";
  EXPECT_EQ(MakePlan(options, {})->period, FindScenario("zombies")->period);
  options.period = Millis(1234);
  options.intensity = 5;
  const auto plan = MakePlan(options, {});
  EXPECT_EQ(plan->period, Millis(1234));
  EXPECT_EQ(plan->intensity, 5U);
}

// The printed command must lead to the same options again.
TEST(ReplayTest, TheCommandParsesToTheSameRun) {
  ChaosOptions options;
  options.scenario = "masterKilling";
  options.duration = Millis(300'000);
  options.seed = 42;
  options.at = {"executor.after_commit~CreateTable:ADD_TO_META=crash@1"};
  options.workloads = {"bank", "ddl"};
  options.session = Millis(1500);
  const std::string command = ReplayCommand(options);
  EXPECT_EQ(command,
            "scripts/chaos --scenario masterKilling --at 'executor.after_commit~CreateTable:ADD_TO_META=crash@1' "
            "--duration 300000ms --seed 42 --workloads bank,ddl --session-ms 1500ms");
  const char* words[] = {
      "ratchet-chaos", "--scenario",   "masterKilling", "--at", "executor.after_commit~CreateTable:ADD_TO_META=crash@1",
      "--duration",    "300000ms",     "--seed",        "42",   "--workloads",
      "bank,ddl",      "--session-ms", "1500ms"};
  ChaosOptions again;
  ASSERT_EQ(ParseChaosOptions(static_cast<int>(std::size(words)), words, &again), -1);
  EXPECT_EQ(ReplayCommand(again), command);
}

TEST(ReplayTest, ProgramsThatTheRunWasGivenAreRepeated) {
  ChaosOptions options;
  options.seed = 42;
  options.clients = "build/client-loads";
  options.released = "build/releases/0.2/bin";
  EXPECT_THAT(ReplayCommand(options), HasSubstr("--clients build/client-loads --released build/releases/0.2/bin"));
}

TEST(ReplayTest, TheNumberOfZooKeeperMembersIsRepeatedWhenItWasAskedFor) {
  ChaosOptions options;
  options.seed = 42;
  options.zookeepers = 1;  // of "everything", which has three otherwise
  EXPECT_THAT(ReplayCommand(options), HasSubstr(" --zookeepers 1"));
  options.zookeepers = 0;
  EXPECT_THAT(ReplayCommand(options), Not(HasSubstr("--zookeepers")));
}

TEST(ReplayTest, ASecuredClusterIsSecuredAgain) {
  const char* words[] = {"ratchet-chaos", "--secure", "--seed", "42"};
  ChaosOptions options;
  ASSERT_EQ(ParseChaosOptions(static_cast<int>(std::size(words)), words, &options), -1);
  EXPECT_EQ(ReplayCommand(options), "scripts/chaos --scenario secure --seed 42 --secure");
}

TEST(OptionsTest, ASecuredRunHasItsOwnScenarioUnlessTheUserNamesFaults) {
  const auto scenario_of = [](std::vector<const char*> words) {
    ChaosOptions options;
    EXPECT_EQ(ParseChaosOptions(static_cast<int>(words.size()), words.data(), &options), -1);
    return options.scenario;
  };
  EXPECT_EQ(scenario_of({"ratchet-chaos", "--secure"}), "secure");
  EXPECT_EQ(scenario_of({"ratchet-chaos", "--secure", "--scenario", "everything"}), "everything");
  EXPECT_EQ(scenario_of({"ratchet-chaos", "--secure", "--faults", "kill-server"}), "");
}

TEST(OptionsTest, OnlyALocalClusterCanBeSecured) {
  const char* words[] = {"ratchet-chaos", "--secure", "--target", "compose"};
  ChaosOptions options;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ParseChaosOptions(static_cast<int>(std::size(words)), words, &options), exit_code::kUsage);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("--secure needs --target local"));
}

TEST(OptionsTest, AnEvenNumberOfZooKeeperMembersIsAWrongFlag) {
  for (const char* members : {"2", "4", "7", "-1", "three"}) {
    const char* words[] = {"ratchet-chaos", "--zookeepers", members};
    ChaosOptions options;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(ParseChaosOptions(static_cast<int>(std::size(words)), words, &options), exit_code::kUsage) << members;
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("zookeepers")) << members;
  }
}

}  // namespace
}  // namespace ratchet::chaos
