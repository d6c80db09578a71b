// A region server that cannot be reached is a problem for as long as it asks.
#include "master/telemetry/reach_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

const TimePoint kStart = TimePoint{} + Millis(1'000'000);

TEST(ReachBookTest, AServerThatIsNotReachedIsAProblemUntilItIs) {
  ReachBook book;
  const ServerName first{"::1", 16'020, 7};
  EXPECT_TRUE(book.NotReached(first, "Connection refused", kStart));
  EXPECT_FALSE(book.NotReached(first, "timed out", kStart + Millis(5'000))) << "it is logged once";
  const auto problems = book.Problems(kStart + Millis(5'000));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].since, kStart);
  EXPECT_NE(problems[0].text.find("::1,16020,7"), std::string::npos) << problems[0].text;
  EXPECT_NE(problems[0].text.find("at [::1]:16020: timed out"), std::string::npos) << problems[0].text;
  EXPECT_NE(problems[0].verb.find("--bind"), std::string::npos);
  // The next incarnation at the address is the same problem.
  EXPECT_FALSE(book.NotReached({"::1", 16'020, 8}, "timed out", kStart + Millis(6'000)));
  EXPECT_EQ(book.Problems(kStart + Millis(6'000)).size(), 1U);
  book.Reached({"::1", 16'020, 9});
  EXPECT_TRUE(book.Problems(kStart + Millis(6'000)).empty());
}

TEST(ReachBookTest, AServerThatNoLongerAsksIsForgotten) {
  ReachBook book;
  EXPECT_TRUE(book.NotReached({"h", 1, 7}, "refused", kStart));
  EXPECT_TRUE(book.Problems(kStart + kUnreachedAge + Millis(1)).empty());
  EXPECT_TRUE(book.NotReached({"h", 1, 8}, "refused", kStart + kUnreachedAge + Millis(1)));
}

TEST(ReachBookTest, ItsSizeIsBounded) {
  ReachBook book;
  for (std::size_t i = 0; i <= kMostUnreached; ++i)
    static_cast<void>(book.NotReached({fmt::format("h{}", i), 1, 7}, "refused", kStart));
  EXPECT_EQ(book.Problems(kStart).size(), kMostUnreached);
}

}  // namespace
}  // namespace ratchet::master
