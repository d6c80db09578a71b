#include "chaos/cluster/transition_watch.h"

#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

TEST(TransitionWatchTest, EachTransitionOfTheFirstLookMustEnd) {
  TransitionWatch watch;
  EXPECT_FALSE(watch.HaveEnded({{"a", 1}, {"b", 2}}));
  EXPECT_FALSE(watch.HaveEnded({{"a", 1}, {"c", 3}}));
  EXPECT_TRUE(watch.HaveEnded({{"c", 3}, {"d", 4}})) << "others have begun since";
}

TEST(TransitionWatchTest, ARegionThatIsStuckNeverCounts) {
  TransitionWatch watch;
  for (std::uint64_t other = 2; other < 100; ++other) EXPECT_FALSE(watch.HaveEnded({{"stuck", 1}, {"b", other}}));
}

TEST(TransitionWatchTest, TheSameRegionUnderAnotherProcedureIsAnotherTransition) {
  TransitionWatch watch;
  EXPECT_FALSE(watch.HaveEnded({{"a", 1}}));
  EXPECT_TRUE(watch.HaveEnded({{"a", 2}}));
}

TEST(TransitionWatchTest, NoTransitionIsEnough) {
  TransitionWatch watch;
  EXPECT_TRUE(watch.HaveEnded({}));
}

TEST(TransitionWatchTest, AResetBeginsAgain) {
  TransitionWatch watch;
  EXPECT_FALSE(watch.HaveEnded({{"a", 1}}));
  watch.Reset();
  EXPECT_FALSE(watch.HaveEnded({{"b", 2}}));
  EXPECT_TRUE(watch.HaveEnded({}));
}

}  // namespace
}  // namespace ratchet::chaos
