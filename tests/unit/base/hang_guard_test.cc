// A run of a simulation that makes no progress ends the process, and the output names the run.
#include "tests/support/hang_guard.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace ratchet::testing {
namespace {

TEST(HangGuardDeathTest, ARunWithoutProgressIsTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const HangGuard guard("seed 7", /*limit_seconds=*/1);
        while (true) ::pause();
      },
      "this run hangs: seed 7");
}

TEST(HangGuardTest, AnEndedRunIsLeftAlone) {
  { const HangGuard guard("seed 7", /*limit_seconds=*/1); }
  EXPECT_EQ(::alarm(0), 0U);  // no alarm is pending
}

}  // namespace
}  // namespace ratchet::testing
