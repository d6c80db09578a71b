#include "chaos/verdict/region_moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;
using enum RegionState;

constexpr const char* kRegion = "t,a\\x00,1700000000000.0123456789abcdef0123456789abcdef.";

LoggedMove Move(std::uint64_t epoch, RegionState state, const char* master = "master-1", const char* region = kRegion) {
  return {epoch, master, region, state};
}
std::string Line(const std::string& rest) { return "2026-01-31T12:30:45.123 I 7 common.cc:68 pid=12 " + rest; }

TEST(RegionMovesTest, ALineOfARegion) {
  const auto move = ParseMove("master-1", Line(std::string("updating hbase:meta row=") + kRegion +
                                               ", regionState=OPEN, openSeqNum=7, regionLocation=h,1,2"));
  ASSERT_TRUE(move);
  EXPECT_EQ(move->region, kRegion);
  EXPECT_EQ(move->state, kOpen);
  EXPECT_EQ(ParseMove("m", Line("updating hbase:meta row=r, regionState=CLOSED"))->state, kClosed);
}

TEST(RegionMovesTest, ALineOfManyRowsNamesNoRegion) {
  const auto move = ParseMove("master-1", Line("updating hbase:meta, 12 rows in all"));
  ASSERT_TRUE(move);
  EXPECT_FALSE(move->state);
}

TEST(RegionMovesTest, OtherLinesAreNone) {
  EXPECT_FALSE(ParseMove("m", Line("updating hbase:meta row=t, tableState=ENABLED")));
  EXPECT_FALSE(ParseMove("m", Line("updating hbase:meta row=r, regionState=SOMEWHERE")));
  EXPECT_FALSE(ParseMove("m", Line("fenced h,1,2")));
  EXPECT_FALSE(ParseMove("m", "no time; updating hbase:meta row=r, regionState=OPEN"));
}

TEST(RegionMovesTest, LegalMovesAreGood) {
  const Finding finding = JudgeMoves({Move(1, kClosed), Move(2, kOpening), Move(3, kOpen), Move(4, kClosing)});
  EXPECT_TRUE(finding.good) << finding.text;
  EXPECT_THAT(finding.text, HasSubstr("3 moves"));
}

TEST(RegionMovesTest, AMoveThatIsNotLegalIsFound) {
  const Finding finding = JudgeMoves({Move(1, kClosed), Move(2, kOpen)});
  EXPECT_FALSE(finding.good);
  EXPECT_THAT(finding.text, HasSubstr("from CLOSED to OPEN by master-1"));
  EXPECT_FALSE(JudgeMoves({Move(1, kSplit), Move(2, kOpening)}).good);
}

// ABNORMALLY_CLOSED is in no row.
TEST(RegionMovesTest, ARegionOfADeadServerOpensElsewhere) {
  EXPECT_TRUE(JudgeMoves({Move(1, kOpen), Move(2, kOpening), Move(3, kOpening)}).good);
  EXPECT_TRUE(JudgeMoves({Move(1, kClosing), Move(2, kOpening)}).good);
  EXPECT_FALSE(JudgeMoves({Move(1, kOpen), Move(2, kMerged)}).good);
}

TEST(RegionMovesTest, RegionsDoNotMix) {
  EXPECT_TRUE(JudgeMoves({Move(1, kClosed), Move(2, kOpen, "master-1", "another")}).good);
}

// A master died between its line and the write.
TEST(RegionMovesTest, ASuccessorMayBeginAtTheRowBefore) {
  const std::vector<LoggedMove> moves = {Move(1, kClosed), Move(2, kOpening), Move(3, kMerging, "master-2")};
  EXPECT_TRUE(JudgeMoves(moves).good);
  std::vector<LoggedMove> by_one = moves;
  by_one.back().master = "master-1";
  EXPECT_FALSE(JudgeMoves(by_one).good);
  EXPECT_FALSE(JudgeMoves({Move(1, kOpen), Move(2, kClosing), Move(3, kMerged, "master-2")}).good);
}

TEST(RegionMovesTest, BehindRowsWithoutNamesNothingIsKnown) {
  EXPECT_TRUE(JudgeMoves({Move(1, kClosed), {2, "master-1", "", std::nullopt}, Move(3, kOpen)}).good);
}

// The clock of a master goes back when the fault `clock-drift` ends.
TEST(RegionMovesTest, TheOrderIsOfEpochsAndLogsAndNotOfTimes) {
  const auto row = [](const char* time, const char* state) {
    return std::string("2026-01-31T12:30:") + time +
           " I [PEWorker-1] pid=12 updating hbase:meta row=r, regionState=" + state;
  };
  const auto claim = [](const char* epoch) {
    return std::string("2026-01-31T12:30:00.000 I [main] Activation: claimed epoch ") + epoch;
  };
  std::vector<LoggedMove> moves;
  const auto read = [&moves](const char* master, const std::vector<std::string>& lines) {
    MoveLog log(master);
    for (const std::string& line : lines) {
      if (const auto move = log.Read(line)) moves.push_back(*move);
    }
  };
  read("master-2", {claim("2"), row("45.900", "CLOSING")});
  read("master-1", {claim("1"), row("46.900", "CLOSED"), row("45.100", "OPENING"), row("45.200", "OPEN"), claim("3"),
                    row("45.000", "CLOSED")});
  EXPECT_TRUE(JudgeMoves(moves).good) << JudgeMoves(moves).text;
  std::swap(moves[1].state, moves[2].state);
  EXPECT_FALSE(JudgeMoves(moves).good);
  EXPECT_FALSE(ParseEpoch("Activation: claimed epoch 3"));
  EXPECT_EQ(ParseEpoch("2026-11-28T03:58:05.457+00:00 I [main] Activation: this is epoch 5"), 5U);
  EXPECT_FALSE(ParseEpoch(claim("x")));
}

TEST(RegionMovesTest, NoMoveAtAllIsNoPass) { EXPECT_FALSE(JudgeMoves({}).good); }

}  // namespace
}  // namespace ratchet::chaos
