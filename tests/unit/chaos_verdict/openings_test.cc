#include "chaos/verdict/openings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

TEST(OpeningsTest, AreReadFromAServersLog) {
  const std::string line =
      "2026-01-01 00:00:00.000 I [open-1] pid=8 Opened region r1, opening=8, first sequence=41, in 3 ms";
  EXPECT_EQ(ParseOpening("rs-2", line), (Opening{"rs-2", "r1", 8, 41}));
  EXPECT_EQ(ParseOpening("rs-2", "pid=8 Closed region r1 in 3 ms"), std::nullopt);
  EXPECT_EQ(ParseOpening("rs-2", "Opened region r1, opening=8, first seq"), std::nullopt);  // the writer was killed
}

std::vector<Opening> GoodOpenings() { return {{"rs-1", "r1", 9, 70}, {"rs-2", "r1", 4, 20}, {"rs-1", "r2", 5, 20}}; }

TEST(OpeningsTest, OneOwnerAtATimeIsGood) {
  const Finding finding = JudgeOpenings(GoodOpenings());
  EXPECT_TRUE(finding.good) << finding.text;
  EXPECT_THAT(finding.text, HasSubstr("3 openings of 2 regions"));
}

TEST(OpeningsTest, NothingSeenIsNoPass) { EXPECT_FALSE(JudgeOpenings({}).good); }

TEST(OpeningsTest, ANumberThatTwoServersHadIsNamed) {
  auto openings = GoodOpenings();
  openings.push_back({"rs-3", "r1", 4, 20});
  const Finding finding = JudgeOpenings(openings);
  EXPECT_FALSE(finding.good);
  EXPECT_THAT(finding.text, HasSubstr("region r1: opening 4 twice, by rs-2 and by rs-3"));
}

TEST(OpeningsTest, AnOpeningThatDidNotSeeTheOneBeforeIsNamed) {
  auto openings = GoodOpenings();
  openings.push_back({"rs-3", "r1", 10, 70});  // no write came in between
  EXPECT_TRUE(JudgeOpenings(openings).good);
  openings.push_back({"rs-3", "r1", 12, 69});
  const Finding finding = JudgeOpenings(openings);
  EXPECT_FALSE(finding.good);
  EXPECT_THAT(finding.text, HasSubstr("opening 12 by rs-3 begins at sequence 69, opening 10 by rs-3 before it at 70"));
}

}  // namespace
}  // namespace ratchet::chaos
