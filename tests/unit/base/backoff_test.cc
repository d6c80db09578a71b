#include "common/base/backoff.h"

#include <gtest/gtest.h>

namespace ratchet {
namespace {

TEST(BackoffTest, GrowsUpToTheCapWithinTheJitter) {
  const BackoffPolicy policy{Millis(100), Millis(1000), 2.0, 0.1};
  Prng prng(1);
  const std::int64_t nominal[] = {100, 200, 400, 800};
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t attempt = 1; attempt <= 4; ++attempt) {
      const auto delay = BackoffDelay(policy, attempt, prng).count();
      EXPECT_GE(delay, nominal[attempt - 1] * 89 / 100);
      EXPECT_LE(delay, nominal[attempt - 1] * 111 / 100);
    }
    EXPECT_LE(BackoffDelay(policy, 60, prng), Millis(1000));
    EXPECT_GE(BackoffDelay(policy, 60, prng), Millis(899));
  }
}

TEST(BackoffTest, TheSeedFixesTheDelays) {
  Prng one(7);
  Prng two(7);
  for (std::uint32_t attempt = 1; attempt < 20; ++attempt) {
    EXPECT_EQ(BackoffDelay({}, attempt, one), BackoffDelay({}, attempt, two));
  }
}

}  // namespace
}  // namespace ratchet
