#include "chaos/workloads/cluster_places.h"

#include <gtest/gtest.h>

#include "chaos/workloads/key_ranges.h"

namespace ratchet::chaos {
namespace {

TEST(JudgeSharesTest, NoTwoServersDifferByMoreThanOne) {
  EXPECT_TRUE(JudgeShares({{"a", 3}}).good);
  EXPECT_TRUE(JudgeShares({{"a", 3}, {"b", 4}, {"c", 3}}).good);
  EXPECT_FALSE(JudgeShares({{"a", 3}, {"b", 4}, {"c", 5}}).good);
  EXPECT_FALSE(JudgeShares({{"a", 0}, {"b", 2}}).good);
  EXPECT_FALSE(JudgeShares({}).good);
}

TEST(KeyRangesTest, CoverEveryKeyOnce) {
  EXPECT_TRUE(WrongRanges("t", {{"", ""}}).empty());
  EXPECT_TRUE(WrongRanges("t", {{"m", ""}, {"", "b"}, {"b", "m"}}).empty());
}

TEST(KeyRangesTest, HolesAndOverlapsAreNoticed) {
  EXPECT_EQ(WrongRanges("t", {}).size(), 1U);
  EXPECT_EQ(WrongRanges("t", {{"", "b"}, {"c", ""}}).size(), 1U) << "a hole";
  EXPECT_EQ(WrongRanges("t", {{"a", ""}}).size(), 1U) << "a hole at the begin";
  EXPECT_EQ(WrongRanges("t", {{"", "b"}}).size(), 1U) << "a hole at the end";
  EXPECT_EQ(WrongRanges("t", {{"", "c"}, {"b", ""}}).size(), 1U) << "an overlap";
  EXPECT_EQ(WrongRanges("t", {{"", "z"}, {"b", "c"}, {"z", ""}}).size(), 1U) << "one within another";
  EXPECT_EQ(WrongRanges("t", {{"", ""}, {"b", "c"}}).size(), 1U) << "one within the last";
  EXPECT_EQ(WrongRanges("t", {{"", "b"}, {"", "b"}, {"b", ""}}).size(), 1U) << "twice";
}

}  // namespace
}  // namespace ratchet::chaos
