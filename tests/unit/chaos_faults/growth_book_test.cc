#include "chaos/faults/growth_book.h"

#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;

// Attacks of 6 s, 2 s apart, on a process that grows by `during` MiB in each attack and by `between` after it.
double KeptAfter(int attacks, std::uint64_t during, std::uint64_t between) {
  GrowthBook book;
  TimePoint now{};
  std::uint64_t resident = 30;
  double kept = 0;
  for (int i = 0; i < attacks; ++i) {
    book.Begin(7, resident * kMebibyte, now);
    kept = book.End(7, (resident += during) * kMebibyte, now += std::chrono::seconds(6));
    resident += between;
    now += std::chrono::seconds(2);
  }
  return kept / kMebibyte;
}

TEST(GrowthBookTest, GrowthByOtherClientsIsNotBlamedOnAttacks) { EXPECT_NEAR(KeptAfter(1000, 3, 1), 0, 0.001); }

TEST(GrowthBookTest, GrowthDuringAttacksOnlyIsReported) {
  EXPECT_NEAR(KeptAfter(100, 3, 0), 300, 0.001);
  EXPECT_NEAR(KeptAfter(100, 6, 1), 300, 0.001) << "half of it is what other clients write";
}

TEST(GrowthBookTest, GrowthIsCountedPerProcess) {
  GrowthBook book;
  book.Begin(1, 10, TimePoint{});
  book.Begin(2, 1000, TimePoint{});
  EXPECT_EQ(book.End(1, 15, TimePoint{} + std::chrono::seconds(1)), 5);
  EXPECT_EQ(book.End(2, 900, TimePoint{} + std::chrono::seconds(1)), -100) << "it gave memory back";
}

}  // namespace
}  // namespace ratchet::chaos
