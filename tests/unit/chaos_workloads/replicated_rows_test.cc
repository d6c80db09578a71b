// Which rows the load "replication" treats as equal, and which it does not.
#include "chaos/workloads/replicated_rows.h"

#include <set>

#include <gtest/gtest.h>

#include "common/base/prng.h"

namespace ratchet::chaos {
namespace {

class ReplicatedRowsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kNewRow = 1;
  static constexpr std::uint64_t kOldRow = 0;
  // A requested write; `acknowledged` as in its answer.
  ReplicatedRows::Write Write(std::uint64_t draw, bool acknowledged) {
    const auto write = rows_.Next(0, draw);
    if (acknowledged) rows_.Acknowledged(0, write);
    return write;
  }
  static std::string Key(std::size_t row) { return ReplicatedRows::KeyOf(0, row); }

  ReplicatedRows rows_{2};
};

TEST_F(ReplicatedRowsTest, EqualCopiesOfWhatWasAcknowledgedAreGood) {
  Write(kNewRow, true);
  Write(kOldRow, true);  // the same row, number 2
  Write(kNewRow, false);
  ReplicatedRows::Copy copy{{Key(0), 2}};
  EXPECT_TRUE(rows_.Compare(copy, copy).good()) << "what was not acknowledged may be there or not";
  copy[Key(1)] = 1;
  const auto compared = rows_.Compare(copy, copy);
  EXPECT_TRUE(compared.good());
  EXPECT_EQ(compared.compared, 2U);
  EXPECT_EQ(rows_.acknowledged(), 1U);
}

TEST_F(ReplicatedRowsTest, ARowThatDidNotArriveIsMissingAcknowledgedOrNot) {
  Write(kNewRow, true);
  Write(kNewRow, false);
  const auto compared = rows_.Compare({{Key(0), 1}, {Key(1), 1}}, {});
  EXPECT_EQ(compared.missing, 2U);
  EXPECT_EQ(compared.lost + compared.foreign, 0U);
  EXPECT_EQ(compared.shown.size(), 2U);
}

TEST_F(ReplicatedRowsTest, AnOlderNumberThereIsMissingAndANewerOneForeign) {
  Write(kNewRow, true);
  Write(kOldRow, true);
  EXPECT_EQ(rows_.Compare({{Key(0), 2}}, {{Key(0), 1}}).missing, 1U);
  EXPECT_EQ(rows_.Compare({{Key(0), 2}}, {{Key(0), 3}}).foreign, 1U);
}

TEST_F(ReplicatedRowsTest, WhatTheFirstClusterHasLostIsTold) {
  Write(kNewRow, true);
  EXPECT_EQ(rows_.Compare({}, {{Key(0), 1}}).lost, 1U);
  EXPECT_EQ(rows_.Compare({{Key(0), 2}}, {{Key(0), 2}}).lost, 1U) << "a number that was never asked for";
}

TEST_F(ReplicatedRowsTest, RowsThatWereNeverWrittenAreForeign) {
  Write(kNewRow, true);
  const auto compared = rows_.Compare({{Key(0), 1}}, {{Key(0), 1}, {"a stranger", 1}, {"another", 1}});
  EXPECT_EQ(compared.foreign, 2U);
}

TEST_F(ReplicatedRowsTest, KeysDiffer) {
  std::set<std::string> keys;
  for (std::size_t writer = 0; writer < 3; ++writer) {
    for (std::size_t row = 0; row < 1'000; ++row) keys.insert(ReplicatedRows::KeyOf(writer, row));
  }
  EXPECT_EQ(keys.size(), 3'000U);
}

// Against the definition: any single change of either copy is found.
TEST_F(ReplicatedRowsTest, AnyChangeIsFound) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  ReplicatedRows::Copy copy;
  for (int i = 0; i < 200; ++i) {
    const auto write = Write(prng.Next(), prng.Chance(3, 4));
    copy[Key(write.row)] = write.number;
  }
  ASSERT_TRUE(rows_.Compare(copy, copy).good());
  for (const auto& [key, number] : copy) {
    auto changed = copy;
    if (prng.Chance(1, 2))
      changed.erase(key);
    else
      changed[key] = number + (prng.Chance(1, 2) ? 1 : UINT64_MAX);  // one more or one less
    EXPECT_FALSE(rows_.Compare(copy, changed).good()) << key;
    EXPECT_FALSE(rows_.Compare(changed, copy).good()) << key;
  }
}

}  // namespace
}  // namespace ratchet::chaos
