#include "regionserver/replication/client_positions.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {
namespace {

TEST(KeptPositionTest, IsReadAsItWasWritten) {
  for (const KeptPosition& kept :
       {KeptPosition{{3, 17}, 0}, KeptPosition{{3, 17}, 5}, KeptPosition{{kEndOfQueue, 0}, 1}}) {
    const auto read = ParseKeptPosition(ToText(kept));
    ASSERT_TRUE(read.ok()) << ToText(kept);
    EXPECT_EQ(*read, kept);
  }
  EXPECT_EQ(ToText(KeptPosition{{3, 17}, 0}), "3:17") << "as servers write it that know of no claims";
  for (const char* wrong : {"", "#1", "3:17#", "3:17#0", "3:17#-1", "3:17#1x", "3:17#18446744073709551615"})
    EXPECT_FALSE(ParseKeptPosition(wrong).ok()) << wrong;
}

// The server ships up to 20 and is fenced before it has written that position. It writes the position after the claimer
// has begun at 10.
bool ALatePositionIsTaken() {
  const KeptPosition kept{{1, 10}, 0};
  const KeptPosition claimed = Claimed(kept);
  EXPECT_EQ(claimed.position, kept.position);
  const auto late = MovedTo(claimed, kept.claims, {1, 20});
  return late.ok() && late->has_value();
}

TEST(KeptPositionTest, OnlyTheLastClaimerMovesIt) {
  EXPECT_FALSE(ALatePositionIsTaken());
  const KeptPosition first = Claimed(std::nullopt);
  const KeptPosition second = Claimed(first);
  EXPECT_FALSE(MovedTo(second, first.claims, {1, 20}).ok()) << "an earlier claimer's";
  const auto own = MovedTo(second, second.claims, {1, 20});
  ASSERT_TRUE(own.ok() && own->has_value());
  EXPECT_EQ(**own, (KeptPosition{{1, 20}, second.claims}));
  const auto behind = MovedTo(**own, second.claims, {1, 15});
  ASSERT_TRUE(behind.ok());
  EXPECT_FALSE(behind->has_value());
}

TEST(KeptPositionTest, TakingALatePositionIsNoticed) {
  const ScopedMutant mutant("replication.late_positions");
  EXPECT_TRUE(ALatePositionIsTaken());
}

}  // namespace
}  // namespace ratchet::regionserver
