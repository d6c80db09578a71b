#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/report/resource_watch.h"
#include "chaos/verdict/guards.h"
#include "common/io/file_descriptor.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

FaultLine Happened(const std::string& kind) {
  FaultLine fault;
  fault.kind = kind;
  fault.victims = {"rs-1"};
  fault.evidence = "it is gone";
  fault.traffic_before = 500;
  return fault;
}

FaultLine MasterKill(std::uint64_t resumed) {
  FaultLine fault = Happened("kill-active-master");
  fault.kills_master = true;
  fault.resumed_pid = resumed;
  return fault;
}

RunRecord GoodRun() {
  RunRecord run;
  run.faults = {Happened("kill-server"), MasterKill(17)};
  WorkloadLine workload{"registers", {}};
  workload.counters.ok = 1000;
  workload.counters.unknown = 10;
  run.workloads = {workload};
  run.findings = {{true, "all there"}};
  return run;
}

Verdict Judge(const RunRecord& run) { return Decide(run.findings, CheckGuards(run, GuardLimits{})); }

std::string Voided(const RunRecord& run) {
  std::string text;
  for (const auto& guard : CheckGuards(run, GuardLimits{})) {
    if (!guard.held) text += guard.text + "\n";
  }
  return text;
}

TEST(GuardsTest, AGoodRunHoldsThemAll) {
  EXPECT_EQ(Voided(GoodRun()), "");
  EXPECT_EQ(Judge(GoodRun()), Verdict::kPass);
}

TEST(GuardsTest, ARunWithoutANamedWorkloadIsNoPass) {
  RunRecord run = GoodRun();
  run.missing_workloads = {{"java", "there is no JDK"}};
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
  EXPECT_THAT(Voided(run), HasSubstr("workload java is UNAVAILABLE: there is no JDK"));
}

TEST(GuardsTest, ARunWithoutFaultsSaysNothing) {
  RunRecord run = GoodRun();
  run.faults.clear();
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
}

TEST(GuardsTest, ARunThatWasEndedByHandSaysNothingGood) {
  RunRecord run = GoodRun();
  run.interrupted = true;
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
  EXPECT_THAT(Voided(run), HasSubstr("ended by hand"));
  run.findings.push_back({false, "a row is lost"});
  EXPECT_EQ(Judge(run), Verdict::kFail);
}

TEST(GuardsTest, AFaultThatDidNotTakeEffect) {
  RunRecord run = GoodRun();
  run.faults[0].error = "NOT_FOUND: no server carries meta";
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
  EXPECT_THAT(Voided(run), HasSubstr("kill-server (NOT_FOUND: no server carries meta)"));
}

TEST(GuardsTest, OneInTenMayMissItsMoment) {
  RunRecord run = GoodRun();
  run.faults.assign(20, Happened("kill-server"));
  for (std::size_t i = 0; i < 2; ++i) run.faults[i].error = "TIMEOUT: not reached";
  EXPECT_EQ(Judge(run), Verdict::kPass);
  run.faults[2].error = "TIMEOUT: not reached";
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
}

TEST(GuardsTest, AFaultWithoutEvidence) {
  RunRecord run = GoodRun();
  run.faults[0].evidence = "";
  EXPECT_THAT(Voided(run), HasSubstr("1 of 2 faults shown"));
}

TEST(GuardsTest, TooLittleTrafficBeforeOneFault) {
  RunRecord run = GoodRun();
  run.faults[0].traffic_before = 19;
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
  EXPECT_THAT(Voided(run), HasSubstr("lowest before kill-server"));
}

TEST(GuardsTest, TooManyUnknownOutcomes) {
  RunRecord run = GoodRun();
  run.workloads[0].counters.ok = 940;
  run.workloads[0].counters.unknown = 60;
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
  run.workloads[0].counters.unknown = 40;
  EXPECT_EQ(Judge(run), Verdict::kPass);
}

TEST(GuardsTest, AWorkloadThatGotNoAnswer) {
  RunRecord run = GoodRun();
  run.workloads.push_back({"ddl", {}});
  EXPECT_THAT(Voided(run), HasSubstr("workload ddl"));
}

TEST(GuardsTest, HalfOfTheMasterKillsMustHaveMetSomething) {
  RunRecord run = GoodRun();
  run.faults = {MasterKill(17), MasterKill(0)};
  EXPECT_EQ(Judge(run), Verdict::kPass);
  run.faults.push_back(MasterKill(0));
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
  EXPECT_THAT(Voided(run), HasSubstr("1 of 3 kills of a master"));
}

TEST(GuardsTest, MasterKillsThatDidNotHappenDoNotCount) {
  RunRecord run = GoodRun();
  FaultLine failed = MasterKill(0);
  failed.error = "no";
  run.faults = {MasterKill(17), failed, failed};
  EXPECT_THAT(Voided(run), ::testing::Not(HasSubstr("kills of a master")));
}

TEST(VerdictTest, AFailureOutweighsAGuard) {
  RunRecord run = GoodRun();
  run.faults.clear();
  run.findings.push_back({false, "one row lost"});
  EXPECT_EQ(Judge(run), Verdict::kFail);
}

TEST(VerdictTest, NothingLookedAtIsNoPass) {
  RunRecord run = GoodRun();
  run.findings.clear();
  EXPECT_EQ(Judge(run), Verdict::kInconclusive);
}

TEST(VerdictTest, ExitCodesAreDistinct) {
  EXPECT_EQ(ExitCodeOf(Verdict::kPass), 0);
  EXPECT_EQ(ExitCodeOf(Verdict::kFail), 1);
  EXPECT_EQ(ExitCodeOf(Verdict::kInconclusive), 3);
}

TEST(ResourcesTest, TheProcessThatGrewIsNamed) {
  ProcessLimits limits;
  limits.descriptors = 100;
  EXPECT_TRUE(JudgePeaks({{"rs-1", {1, 100, 1}}}, limits).good);
  const auto grown = JudgePeaks({{"rs-1", {1, 10, 1}}, {"rs-2", {1, 101, 1}}}, limits);
  EXPECT_FALSE(grown.good);
  EXPECT_THAT(grown.text, HasSubstr("rs-2"));
  EXPECT_FALSE(JudgePeaks({}, limits).good);
}

// A flood of connections is temporary; a leak stays.
TEST(ResourcesTest, DescriptorsCountWhenTheyStay) {
  const std::map<std::string, int> self = {{"self", getpid()}};
  ResourceWatch watch;
  watch.Look(self);
  const std::uint64_t before = watch.peaks().at("self").descriptors;
  std::vector<io::FileDescriptor> opened;
  for (int i = 0; i < 100; ++i) opened.emplace_back(::dup(STDERR_FILENO));
  for (std::size_t i = 1; i < ResourceWatch::kHeldLooks; ++i) watch.Look(self);
  EXPECT_LE(watch.peaks().at("self").descriptors, before + 50);
  watch.Look(self);
  EXPECT_GE(watch.peaks().at("self").descriptors, 100U);
}

}  // namespace
}  // namespace ratchet::chaos
