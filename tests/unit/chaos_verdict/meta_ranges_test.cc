#include "chaos/verdict/meta_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

const MetaRanges kWhole = {{"t", {{"r1", {"", "b"}}, {"r2", {"b", ""}}}}};
// A scan during which r2 was split, after the scan had passed the place of the daughters' rows.
const MetaRanges kTorn = {{"t", {{"r1", {"", "b"}}}}};
const MetaRanges kTornOtherwise = {{"t", {{"r1", {"", "b"}}, {"r3", {"c", ""}}}}};

TEST(RangeJudgeTest, NothingReadIsNoProof) { EXPECT_FALSE(RangeJudge().Judge().good); }

TEST(RangeJudgeTest, WholeTablesAreGood) {
  RangeJudge judge;
  judge.Take(kWhole);
  EXPECT_FALSE(judge.in_doubt());
  EXPECT_TRUE(judge.Judge().good);
}

TEST(RangeJudgeTest, OneLookMayMeetACommitInItsMiddle) {
  RangeJudge judge;
  judge.Take(kTorn);
  EXPECT_TRUE(judge.in_doubt());
  judge.Take(kTornOtherwise);  // the next scan has an inconsistency of another commit
  judge.Take(kWhole);
  judge.Take(kTorn);
  judge.Take({});  // the table is gone
  judge.Take(kTorn);
  EXPECT_TRUE(judge.Judge().good);
}

TEST(RangeJudgeTest, TwoLooksThatAgreeShowAHole) {
  RangeJudge judge;
  judge.Take(kTorn);
  judge.Take(kTorn);
  judge.Take(kWhole);
  const Finding finding = judge.Judge();
  EXPECT_FALSE(finding.good);
  EXPECT_THAT(finding.text, HasSubstr("t has no region after 'b'"));
}

TEST(RangeJudgeTest, TwoLooksThatAgreeShowATableWithoutRegions) {
  RangeJudge judge;
  judge.Take({{"t", {}}});
  judge.Take({{"t", {}}});
  EXPECT_FALSE(judge.Judge().good);
}

}  // namespace
}  // namespace ratchet::chaos
