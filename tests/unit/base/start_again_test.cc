#include "common/base/start_again.h"

#include <gtest/gtest.h>

#include "common/base/exit_codes.h"
#include "common/base/mutant.h"
#include "common/base/without_resources.h"

namespace ratchet {
namespace {

constexpr int kEndsForGood[] = {exit_code::kClockOff,  exit_code::kOk,           exit_code::kFailed,
                                exit_code::kUsage,     exit_code::kPortTaken,    exit_code::kWrongCluster,
                                exit_code::kInternal,  exit_code::kStoreDamaged, exit_code::kOutOfMemory,
                                exit_code::kFailedSync};
constexpr int kComesAgain[] = {exit_code::kSessionExpired, exit_code::kFenced, exit_code::kRefusedByMaster,
                               exit_code::kStorageHangs, exit_code::kNoRoom};

// What a policy without the rule would do: how many of the ends that stay ends are followed by another incarnation.
int WronglyRepeatedEnds() {
  int wrong = 0;
  for (const int code : kEndsForGood) {
    for (const std::uint32_t count : {0U, 1U, 7U}) wrong += ComesAgainAfter(code, {count, count, "before"}) ? 1 : 0;
  }
  return wrong;
}

TEST(StartAgainTest, OnlyWhatOthersHaveTakenOverComesAgain) {
  EXPECT_EQ(WronglyRepeatedEnds(), 0);
  for (const int code : kComesAgain) EXPECT_TRUE(ComesAgainAfter(code, {})) << code;
}

TEST(StartAgainTest, ComingAgainAfterAnyEndIsNoticed) {
  const ScopedMutant mutant("again.after_any_end");
  EXPECT_GT(WronglyRepeatedEnds(), 0);
}

// A wrong address is noticed at the first start; one that had served goes on trying.
TEST(StartAgainTest, WhatIsOutOfReachIsAnEndOnlyAtAStartFromOutside) {
  for (const int code : {exit_code::kZooKeeperUnreachable, exit_code::kRootUnusable, exit_code::kNoDescriptors}) {
    EXPECT_FALSE(ComesAgainAfter(code, {})) << code;
    EXPECT_TRUE(ComesAgainAfter(code, {1, 1, "code 21: lost"})) << code;
  }
}

// The operating system's words decide: a full disk is no wrong root, and whatever else ends with another code stays so.
bool AFullDiskIsPassing() {
  const int full = CodeOfEnd({exit_code::kRootUnusable, "NO_SPACE: making wals/a,1,2: No space left on device"});
  return full == exit_code::kNoRoom && ComesAgainAfter(full, {});
}

TEST(StartAgainTest, AServerThatWasStartedOnAFullDiskComesAgain) {
  EXPECT_TRUE(AFullDiskIsPassing());
  EXPECT_EQ(CodeOfEnd({exit_code::kRootUnusable, "opening r: Permission denied"}), exit_code::kRootUnusable);
  EXPECT_EQ(CodeOfEnd({exit_code::kRootUnusable, "opening r: Too many open files"}), exit_code::kNoDescriptors);
  EXPECT_EQ(CodeOfEnd({exit_code::kFailedSync, "No space left on device"}), exit_code::kFailedSync);
}

TEST(StartAgainTest, AFullDiskThatIsFinalIsNoticed) {
  const ScopedMutant mutant("again.full_disk_is_final");
  EXPECT_FALSE(AFullDiskIsPassing());
}

TEST(StartAgainTest, PausesGrowToABoundAndBeginAnewAfterACalmRun) {
  const ExitReason lost{exit_code::kSessionExpired, "lost"};
  PastLives past;
  Millis before{0};
  for (int i = 1; i <= 40; ++i) {
    past = PastOfNext(past, lost, Millis(1'000));
    EXPECT_EQ(past.count, static_cast<std::uint32_t>(i));
    EXPECT_GE(PauseBefore(past), before);
    EXPECT_LE(PauseBefore(past), kLongestPauseBeforeAgain);
    before = PauseBefore(past);
    if (i == 1) {
      EXPECT_EQ(before, Millis(0));
    }
  }
  EXPECT_EQ(before, kLongestPauseBeforeAgain);
  past = PastOfNext(past, lost, kCalmRun);
  EXPECT_EQ(past.count, 41U);
  EXPECT_EQ(PauseBefore(past), Millis(0));
}

TEST(StartAgainTest, ThePastIsOneShortLineAndWhateverElseIsNoPast) {
  const PastLives past = PastOfNext({2, 1, ""}, {exit_code::kFenced, "a/b\nc\t" + std::string(10'000, 'x')}, Millis(5));
  const std::string text = ToText(past);
  EXPECT_LE(text.size(), kMaxReason + 30);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const PastLives read = ParsePastLives(text);
  EXPECT_EQ(read.count, 3U);
  EXPECT_EQ(read.in_a_row, 2U);
  EXPECT_EQ(read.why, past.why);
  for (const char* wrong :
       {"", "1", "1/", "x/1/why", "1/-2/why", "99999999999999/1/why", "1/99999999999999/why", "/1/", "1 /1/"}) {
    EXPECT_EQ(ParsePastLives(wrong).count, 0U) << wrong;
  }
}

}  // namespace
}  // namespace ratchet
