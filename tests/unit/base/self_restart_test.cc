#include "common/base/self_restart.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/base/exit_codes.h"
#include "common/base/mutant.h"
#include "common/base/refused_start.h"
#include "common/base/resource_failure.h"

namespace ratchet {
namespace {

constexpr int kEndsForGood[] = {exit_code::kClockOff,     exit_code::kOk,        exit_code::kFailed,
                                exit_code::kUsage,        exit_code::kPortTaken, exit_code::kWentBack,
                                exit_code::kWrongCluster, exit_code::kInternal,  exit_code::kStoreDamaged,
                                exit_code::kOutOfMemory,  exit_code::kFailedSync};
constexpr int kComesAgain[] = {exit_code::kSessionExpired, exit_code::kFenced, exit_code::kRefusedByMaster,
                               exit_code::kStorageHangs, exit_code::kNoRoom};

// Counts the final ends after which a policy without the rule would restart the process.
int WronglyRepeatedEnds() {
  int wrong = 0;
  for (const int code : kEndsForGood) {
    for (const std::uint32_t count : {0U, 1U, 7U}) wrong += ShouldRestart(code, {count, count, "before"}) ? 1 : 0;
  }
  return wrong;
}

TEST(SelfRestartTest, OnlySupersededProcessesRestart) {
  EXPECT_EQ(WronglyRepeatedEnds(), 0);
  for (const int code : kComesAgain) EXPECT_TRUE(ShouldRestart(code, {})) << code;
}

TEST(SelfRestartTest, RestartAfterAnyEndIsNoticed) {
  const ScopedMutant mutant("restart.after_any_end");
  EXPECT_GT(WronglyRepeatedEnds(), 0);
}

// A wrong address is noticed at the first start; a process that had served retries.
TEST(SelfRestartTest, UnreachableServiceIsFinalOnlyAtAStartFromOutside) {
  for (const int code :
       {exit_code::kZooKeeperUnreachable, exit_code::kRootUnusable, exit_code::kNoDescriptors, exit_code::kNoAddress}) {
    EXPECT_FALSE(ShouldRestart(code, {})) << code;
    EXPECT_TRUE(ShouldRestart(code, {1, 1, "code 21: lost"})) << code;
  }
}

// The operating system's error decides: a full disk is not a wrong root, and other causes keep their exit codes.
bool AFullDiskIsPassing() {
  const int full = CodeOfEnd({exit_code::kRootUnusable, "NO_SPACE: making wals/a,1,2: No space left on device"});
  return full == exit_code::kNoRoom && ShouldRestart(full, {});
}

TEST(SelfRestartTest, ServerStartedOnAFullDiskRestarts) {
  EXPECT_TRUE(AFullDiskIsPassing());
  EXPECT_EQ(CodeOfEnd({exit_code::kRootUnusable, "opening r: Permission denied"}), exit_code::kRootUnusable);
  EXPECT_EQ(CodeOfEnd({exit_code::kRootUnusable, "opening r: Too many open files"}), exit_code::kNoDescriptors);
  EXPECT_EQ(CodeOfEnd({exit_code::kFailedSync, "No space left on device"}), exit_code::kFailedSync);
}

// A certificate that cannot be opened because the system has no descriptor is not a wrong setting.
TEST(SelfRestartTest, ARefusedStartWithoutDescriptorsRestartsAfterAnEarlierOne) {
  const SystemClock clock;
  char program[] = "server";
  char list[] = "--gtest_list_tests";  // the next incarnation, which is this test program, ends with code 0
  char* const arguments[] = {program, list, nullptr};
  ExitLatch exit;
  const std::string why = "TLS: ca.pem: cannot open: Too many open files in system";
  const SelfRestart first(clock, arguments);
  EXPECT_EQ(EndOfRefusedStart(first, exit, "server", why, true), exit_code::kNoDescriptors);
  ASSERT_EQ(::setenv("RATCHET_PAST_LIVES", ToText({1, 1, "code 27: before"}).c_str(), 1), 0);
  const SelfRestart again(clock, arguments);
  EXPECT_EQ(EndOfRefusedStart(again, exit, "server", "TLS: ca.pem: empty", true), exit_code::kUsage);
  EXPECT_EQ(EndOfRefusedStart(again, exit, "server", why, false), exit_code::kNoDescriptors);
  EXPECT_EXIT(::_exit(EndOfRefusedStart(again, exit, "server", why, true)), ::testing::ExitedWithCode(0), "");
}

TEST(SelfRestartTest, ServerWithoutItsNetworkFileSystemRestarts) {
  for (const char* why :
       {"opening r: Stale file handle", "opening r: Connection timed out", "opening r: Host is down"}) {
    EXPECT_EQ(CodeOfEnd({exit_code::kRootUnusable, why}), exit_code::kStorageHangs) << why;
    EXPECT_EQ(CodeOfEnd({exit_code::kWrongCluster, why}), exit_code::kWrongCluster) << why;
  }
}

TEST(SelfRestartTest, AFullDiskThatIsFinalIsNoticed) {
  const ScopedMutant mutant("restart.full_disk_is_final");
  EXPECT_FALSE(AFullDiskIsPassing());
}

TEST(SelfRestartTest, DelaysGrowToABoundAndResetAfterACalmRun) {
  const ExitReason lost{exit_code::kSessionExpired, "lost"};
  RestartHistory history;
  Millis before{0};
  for (int i = 1; i <= 40; ++i) {
    history = HistoryOfNext(history, lost, Millis(1'000));
    EXPECT_EQ(history.count, static_cast<std::uint32_t>(i));
    EXPECT_GE(DelayBefore(history), before);
    EXPECT_LE(DelayBefore(history), kLongestDelay);
    before = DelayBefore(history);
    if (i == 1) {
      EXPECT_EQ(before, Millis(0));
    }
  }
  EXPECT_EQ(before, kLongestDelay);
  history = HistoryOfNext(history, lost, kCalmRun);
  EXPECT_EQ(history.count, 41U);
  EXPECT_EQ(DelayBefore(history), Millis(0));
}

TEST(SelfRestartTest, HistoryIsOneShortLineAndOtherTextIsNone) {
  const RestartHistory history =
      HistoryOfNext({2, 1, ""}, {exit_code::kFenced, "a/b\nc\t" + std::string(10'000, 'x')}, Millis(5));
  const std::string text = ToText(history);
  EXPECT_LE(text.size(), kMaxReason + 30);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const RestartHistory read = ParseRestartHistory(text);
  EXPECT_EQ(read.count, 3U);
  EXPECT_EQ(read.in_a_row, 2U);
  EXPECT_EQ(read.why, history.why);
  for (const char* wrong :
       {"", "1", "1/", "x/1/why", "1/-2/why", "99999999999999/1/why", "1/99999999999999/why", "/1/", "1 /1/"}) {
    EXPECT_EQ(ParseRestartHistory(wrong).count, 0U) << wrong;
  }
}

}  // namespace
}  // namespace ratchet
