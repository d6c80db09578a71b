#include "chaos/workloads/huge_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/cell.h"
#include "common/model/cell_codec.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kLimit = 64U << 10U;

HugeRow MakeOne(HugeShape shape) { return MakeHugeRow(shape, "0000-0-0-0", 7, kLimit); }

client::Row AnswerWith(const client::Mutation& put) {
  client::Row row;
  row.key = put.row;
  row.cells = put.cells;
  return row;
}

std::string WrongIn(const client::Row& answer, HugeRow row) { return Judge(answer, row).value_or(""); }

TEST(HugeRowTest, ReachesTheLimitsAndDoesNotPassThem) {
  const HugeRow cell = MakeOne(HugeShape::kCell);
  std::uint64_t largest = 0;
  for (std::uint64_t version = 1; version <= 65; ++version) {
    const auto put = PutHugeRow(cell, version);
    largest = std::max<std::uint64_t>(largest, EncodedCellSize(put.cells.front()));
    EXPECT_GT(EncodedCellSize(put.cells.front()), kLimit - 65);
  }
  EXPECT_EQ(largest, kLimit);
  EXPECT_EQ(EncodedCellSize(PutHugeRow(cell, 1, 1).cells.front()), kLimit + 1);
  EXPECT_EQ(MakeOne(HugeShape::kLongKey).key.size(), kMaxRowLength);
  EXPECT_GE(PutHugeRow(MakeOne(HugeShape::kWide), 1).cells.size(), 2'000U);
}

TEST(HugeRowTest, WhatIsThereIsRight) {
  for (const HugeShape shape : {HugeShape::kCell, HugeShape::kWide, HugeShape::kLongKey}) {
    HugeRow row = MakeOne(shape);
    EXPECT_EQ(WrongIn({}, row), "");
    row.acknowledged = 3;
    row.perhaps = {4, 5};
    EXPECT_EQ(WrongIn(AnswerWith(PutHugeRow(row, 3)), row), "");
    EXPECT_EQ(WrongIn(AnswerWith(PutHugeRow(row, 5)), row), "");
  }
}

TEST(HugeRowTest, WhatIsLostOldOrTornIsWrong) {
  HugeRow row = MakeOne(HugeShape::kWide);
  row.acknowledged = 3;
  EXPECT_THAT(WrongIn({}, row), HasSubstr("it is gone"));
  EXPECT_THAT(WrongIn(AnswerWith(PutHugeRow(row, 2)), row), HasSubstr("has version 2, but 3 was acknowledged"));
  EXPECT_THAT(WrongIn(AnswerWith(PutHugeRow(row, 4)), row), HasSubstr("has version 4"));
  client::Row torn = AnswerWith(PutHugeRow(row, 3));
  torn.cells[1'000] = PutHugeRow(row, 2).cells[1'000];
  EXPECT_THAT(WrongIn(torn, row), HasSubstr("has version 2 instead"));
  client::Row cut = AnswerWith(PutHugeRow(row, 3));
  cut.cells.pop_back();
  EXPECT_THAT(WrongIn(cut, row), HasSubstr("cells of version 3"));
  client::Row changed = AnswerWith(PutHugeRow(row, 3));
  changed.cells[5].value[3] ^= 1;
  EXPECT_THAT(WrongIn(changed, row), HasSubstr("differs from the written bytes"));
}

// A value that a read has shown stays.
TEST(HugeRowTest, AReadSettlesWhatWasUnknown) {
  HugeRow row = MakeOne(HugeShape::kCell);
  row.acknowledged = 3;
  row.perhaps = {4, 5};
  EXPECT_EQ(Judge(AnswerWith(PutHugeRow(row, 4)), row), std::nullopt);
  EXPECT_NE(WrongIn(AnswerWith(PutHugeRow(row, 3)), row), "");
  EXPECT_EQ(WrongIn(AnswerWith(PutHugeRow(row, 5)), row), "");
}

}  // namespace
}  // namespace ratchet::chaos
