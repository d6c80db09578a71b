#include "chaos/verdict/gap_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/verdict/guards.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSession = 2'000;

// A fault that is in effect for a second and has settled after `settled` ms.
FaultLine Struck(const char* kind, std::int64_t at, std::int64_t gap, std::int64_t settled = 60'000) {
  FaultLine fault;
  fault.kind = kind;
  fault.injected_ms = at;
  fault.healed_ms = at + 1'000;
  fault.settled_ms = at + settled;
  fault.gap_ms = gap;
  return fault;
}

TEST(GapBoundsTest, AGapWithinTheBoundIsGood) {
  EXPECT_TRUE(JudgeGaps({Struck("kill-server", 0, 41'000)}, kSession).good);
}

TEST(GapBoundsTest, ALongerOneFailsTheRun) {
  const Finding finding = JudgeGaps({Struck("kill-server", 0, 41'001)}, kSession);
  EXPECT_FALSE(finding.good);
  EXPECT_THAT(finding.text, HasSubstr("kill-server: a client had no answer for 41001 ms, at most 41000 ms"));
  EXPECT_EQ(Decide({finding}, {{true, "traffic"}}), Verdict::kFail);
}

TEST(GapBoundsTest, TheBoundDependsOnTheKindAndTheSession) {
  EXPECT_FALSE(JudgeGaps({Struck("kill-standby", 0, 30'000)}, kSession).good);
  EXPECT_TRUE(JudgeGaps({Struck("kill-server", 0, 30'000)}, kSession).good);
  EXPECT_FALSE(JudgeGaps({Struck("kill-server", 0, 50'000)}, kSession).good);
  EXPECT_TRUE(JudgeGaps({Struck("kill-all-servers", 0, 50'000)}, kSession).good);
  EXPECT_TRUE(JudgeGaps({Struck("kill-server", 0, 50'000)}, 4'000).good);
}

TEST(GapBoundsTest, AFaultInEffectProlongsTheGap) {
  FaultLine longer = Struck("pause-server", 0, 50'000);
  EXPECT_FALSE(JudgeGaps({longer}, kSession).good);
  longer.healed_ms = 20'000;
  EXPECT_TRUE(JudgeGaps({longer}, kSession).good);
}

TEST(GapBoundsTest, SoDoesAnotherFaultMeanwhile) {
  const FaultLine one = Struck("kill-server", 0, 60'000);
  EXPECT_FALSE(JudgeGaps({one, Struck("kill-server", 61'000, 0)}, kSession).good) << "it began after that had settled";
  EXPECT_TRUE(JudgeGaps({one, Struck("kill-server", 30'000, 0)}, kSession).good);
}

TEST(GapBoundsTest, AFaultWithoutEffectIsNotJudgedAndExcusesOthers) {
  FaultLine failed = Struck("kill-server", 0, 90'000);
  failed.error = "not reached";
  EXPECT_TRUE(JudgeGaps({failed}, kSession).good);
}

TEST(GapBoundsTest, AFactorScalesThemAll) {
  const std::vector<FaultLine> faults = {Struck("kill-server", 0, 60'000)};
  EXPECT_FALSE(JudgeGaps(faults, kSession, 1).good);
  EXPECT_TRUE(JudgeGaps(faults, kSession, 2).good);
  EXPECT_TRUE(JudgeGaps(faults, kSession, 0).good);
}

}  // namespace
}  // namespace ratchet::chaos
