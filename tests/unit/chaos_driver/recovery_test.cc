#include <gtest/gtest.h>

#include "chaos/report/prober.h"
#include "chaos/report/recovery.h"
#include "chaos/report/timeline.h"
#include "chaos/report/traffic_sampler.h"

namespace ratchet::chaos {
namespace {

pb::ProcedureInfo Procedure(std::uint64_t submitted,
                            const std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>>& steps) {
  pb::ProcedureInfo info;
  info.set_pid(7);
  info.set_type("ServerCrash");
  info.set_state("SUCCESS");
  info.set_finished(true);
  info.set_submitted_wall_ms(submitted);
  for (const auto& [step, epoch, at] : steps) {
    auto& entry = *info.add_history();
    entry.set_step(step);
    entry.set_epoch(epoch);
    entry.set_at_wall_ms(at);
  }
  return info;
}

TEST(RecoveryTest, PhasesOfACrash) {
  const auto crash = Procedure(3000, {{"START", 1, 3001},
                                      {"FENCE", 1, 3010},
                                      {"SEAL", 1, 3020},
                                      {"SPLIT_LOG", 1, 3030},
                                      {"ASSIGN_REGIONS", 1, 3100},
                                      {"RETIRE_LOGS", 1, 3200}});
  const Phases phases = PhasesOfCrash(crash, 1000);
  EXPECT_EQ(phases.detect, 2000);
  EXPECT_EQ(phases.fence, 2010);
  EXPECT_EQ(phases.split, 2100);
  EXPECT_EQ(phases.assign, 2200);
  EXPECT_FALSE(phases.first_success);
}

TEST(RecoveryTest, PhasesOfATakeoverLeaveOutWhatWasBefore) {
  const std::vector<std::string> log = {
      "2026-01-31T12:00:00.100 I [main] elected as active master: a",
      "2026-01-31T12:00:00.200 I [main] activation: ready, epoch 1",
      "2026-01-31T12:00:05.000 I [main] elected as active master: b",
      "2026-01-31T12:00:05.010 I [main] activation: claim store done in 4 ms: epoch 2",
      "2026-01-31T12:00:05.100 I [main] activation: ready, epoch 2",
  };
  const std::int64_t injected = *LogLineMillis(log[1]) + 2800;
  const Phases phases = PhasesOfTakeover(log, injected);
  EXPECT_EQ(phases.detect, 2000);
  EXPECT_EQ(phases.fence, 2010);
  EXPECT_EQ(phases.assign, 2100);
  EXPECT_EQ(PhasesOfTakeover(log, injected + 60'000), Phases{});
}

TEST(RecoveryTest, TheLaterPhaseCounts) {
  Phases one;
  one.detect = 5;
  one.fence = 9;
  Phases other;
  other.fence = 7;
  other.assign = 11;
  const Phases both = Later(one, other);
  EXPECT_EQ(both.detect, 5);
  EXPECT_EQ(both.fence, 9);
  EXPECT_EQ(both.assign, 11);
}

TEST(RecoveryTest, ACrashBelongsToTheFaultThatNamesTheServer) {
  std::vector<FaultLine> faults(3);
  faults[0].injected_ms = 100;
  faults[0].victims = {"rs-1"};
  faults[1].injected_ms = 200;
  faults[1].victims = {"rs-2 -> zookeeper"};
  faults[2].injected_ms = 300;
  faults[2].victims = {"master-1"};
  const std::map<std::string, std::uint16_t> ports = {{"rs-1", 11}, {"rs-2", 22}, {"rs-3", 33}, {"master-1", 44}};
  EXPECT_EQ(FaultOfCrash(faults, ports, 11, 1000), 0U);
  EXPECT_EQ(FaultOfCrash(faults, ports, 22, 1000), 1U);
  EXPECT_EQ(FaultOfCrash(faults, ports, 33, 1000), 2U);  // no record names it: the latest
  EXPECT_EQ(FaultOfCrash(faults, ports, 33, 150), 0U);
  EXPECT_FALSE(FaultOfCrash(faults, ports, 11, 50));
  faults[2].error = "did not take effect";
  EXPECT_EQ(FaultOfCrash(faults, ports, 33, 1000), 2U);  // it may have killed on its way
}

TEST(RecoveryTest, PortOfTheServerInAProceduresText) {
  EXPECT_EQ(PortInText("ServerCrash 127.0.0.1,29223,1795244718547, meta=true"), 29223);
  EXPECT_EQ(PortInText("ServerCrash no server, none"), 0);
  EXPECT_EQ(PortInText(""), 0);
}

TEST(RecoveryTest, EndedByASuccessor) {
  const auto crossing = Procedure(1, {{"A", 3, 10}, {"B", 4, 20}});
  EXPECT_TRUE(EndedByASuccessor(crossing, 3));
  EXPECT_FALSE(EndedByASuccessor(crossing, 4));
  EXPECT_TRUE(EndedByASuccessor(crossing, 0));
  const auto within = Procedure(1, {{"A", 4, 10}, {"B", 4, 20}});
  EXPECT_TRUE(EndedByASuccessor(within, 3));  // submitted under 3, its first step was committed by 4
  EXPECT_FALSE(EndedByASuccessor(within, 0));
  auto unfinished = crossing;
  unfinished.set_finished(false);
  EXPECT_FALSE(EndedByASuccessor(unfinished, 3));
}

TEST(GapTest, TheLongestThatTouchesTheTime) {
  const std::vector<Gap> gaps = {{0, 90}, {100, 150}, {140, 260}, {400, 900}};
  const auto longest = LongestGap(gaps, 120, 300);
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->length(), 120);
  EXPECT_EQ(LongestGap(gaps, 200, 300)->length(), 60);  // an earlier gap belongs to an earlier fault
  EXPECT_EQ(LongestGap(gaps, 200, 400)->length(), 500);
  EXPECT_FALSE(LongestGap(gaps, 300, 350));
}

TEST(TrafficTest, RateOverTheLastSecond) {
  EXPECT_EQ(RateOf({}), 0);
  EXPECT_EQ(RateOf({{0, 10, 0}}), 0);
  // The first second was busy; the last one was not.
  std::vector<TrafficSample> samples;
  for (int i = 0; i <= 5; ++i) samples.push_back({i * 200, static_cast<std::uint64_t>(i) * 100, 0});
  EXPECT_DOUBLE_EQ(RateOf(samples), 500);
  for (int i = 6; i <= 10; ++i) samples.push_back({i * 200, 500, 0});
  EXPECT_DOUBLE_EQ(RateOf(samples), 0);
}

}  // namespace
}  // namespace ratchet::chaos
