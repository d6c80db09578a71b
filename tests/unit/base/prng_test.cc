#include "common/base/prng.h"

#include <array>

#include <gtest/gtest.h>

namespace ratchet {
namespace {

TEST(PrngTest, TheSeedFixesTheSequence) {
  Prng one(42);
  Prng two(42);
  Prng other(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto value = one.Next();
    EXPECT_EQ(value, two.Next());
    differs = differs || value != other.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(PrngTest, StaysInRangeAndReachesAllOfIt) {
  Prng prng(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen[prng.Below(7)];
  for (const int count : seen) EXPECT_GT(count, 700);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const auto value = prng.Between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    low = low || value == -2;
    high = high || value == 2;
  }
  EXPECT_TRUE(low && high);
}

TEST(PrngTest, AForkDoesNotDisturbItsParent) {
  Prng one(5);
  Prng two(5);
  Prng fork_one = one.Fork();
  Prng fork_two = two.Fork();
  for (int i = 0; i < 10; ++i) (void)fork_one.Next();
  EXPECT_EQ(one.Next(), two.Next());
  EXPECT_NE(fork_one.Next(), fork_two.Next());
}

TEST(PrngTest, EmptyRangesAreAProgrammersError) { EXPECT_DEATH((void)Prng(1).Below(0), "empty range"); }

}  // namespace
}  // namespace ratchet
