#include "regionserver/host/open_regions.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace ratchet::regionserver {
namespace {

const ServerName kThere{"there", 1, 2};
const ServerName kElsewhere{"elsewhere", 3, 4};

TEST(MovedRegionsTest, AHintIsGivenForTwoMinutes) {
  MovedRegions moved;
  const TimePoint start{};
  moved.Remember("r", {kThere, 7}, start);
  ASSERT_TRUE(moved.Find("r", start + MovedRegions::kKept));
  EXPECT_EQ(moved.Find("r", start)->destination, kThere);
  EXPECT_EQ(moved.Find("r", start)->sequence, 7U);
  EXPECT_FALSE(moved.Find("r", start + MovedRegions::kKept + Millis(1)));
  EXPECT_FALSE(moved.Find("other", start));
  moved.Remember("s", {kThere, 8}, start + MovedRegions::kKept + Millis(1));
  EXPECT_EQ(moved.size(), 1U) << "what is too old takes no memory";
}

TEST(MovedRegionsTest, WhatCameBackIsForgotten) {
  MovedRegions moved;
  moved.Remember("r", {kThere, 7}, {});
  moved.Forget("r");
  moved.Forget("never there");
  EXPECT_FALSE(moved.Find("r", {}));
  EXPECT_EQ(moved.size(), 0U);
}

// A region that has moved away, come back and moved again is as young as its last move.
TEST(MovedRegionsTest, TheOldestMovesGoWhenThereAreTooMany) {
  MovedRegions moved;
  moved.Remember("again", {kThere, 1}, {});
  moved.Remember("twice", {kThere, 1}, {});
  for (std::size_t i = 2; i < MovedRegions::kMost; ++i) moved.Remember(fmt::format("{}", i), {kThere, i}, {});
  moved.Forget("again");
  moved.Remember("again", {kElsewhere, 9}, {});
  moved.Remember("twice", {kElsewhere, 9}, {});
  for (std::size_t i = 0; i < MovedRegions::kMost - 2; ++i) moved.Remember(fmt::format("new {}", i), {kThere, i}, {});
  EXPECT_EQ(moved.size(), MovedRegions::kMost);
  ASSERT_TRUE(moved.Find("again", {}));
  EXPECT_EQ(moved.Find("again", {})->destination, kElsewhere);
  EXPECT_TRUE(moved.Find("twice", {}));
  EXPECT_FALSE(moved.Find("2", {}));
}

}  // namespace
}  // namespace ratchet::regionserver
