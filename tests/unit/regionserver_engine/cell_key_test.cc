// The order of stored keys is the order of their cells, in hbase:meta too.
#include <algorithm>

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {
namespace {

// Rows with the bytes that matter: commas, zeroes, low and high bytes.
std::string RandomRow(Prng& prng) {
  static constexpr char kBytes[] = {',', '\0', '\1', 'a', 'b', '\xff'};
  std::string row;
  for (std::uint64_t n = prng.Below(6); n > 0; --n) row += kBytes[prng.Below(sizeof kBytes)];
  return row;
}

int Sign(int value) { return (value > 0) - (value < 0); }

TEST(CellKey, OrderOfKeysIsOrderOfCells) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (const RowOrder order : {RowOrder::kPlain, RowOrder::kMeta}) {
    for (int round = 0; round < 20'000; ++round) {
      Cell a{RandomRow(prng), "f", RandomRow(prng), prng.Between(0, 3), CellType::kPut, ""};
      Cell b{RandomRow(prng), "f", RandomRow(prng), prng.Between(0, 3), CellType::kPut, ""};
      const auto cells = CompareCells(order, a, b);
      const int keys = KeyOrder{order}.Compare(CellKey(a, 7), CellKey(b, 7));
      EXPECT_EQ(Sign(keys), cells < 0 ? -1 : cells > 0 ? 1 : 0);
    }
  }
}

// A table's writer compares with the empty key before it has written one.
TEST(CellKey, TheEmptyKeyIsBelowEveryOther) {
  for (const RowOrder order : {RowOrder::kPlain, RowOrder::kMeta}) {
    for (const std::string row : {"", "t,,1", "t"}) {
      const std::string key = CellKey(Cell{row, "f", "q", 1, CellType::kPut, ""}, 1);
      EXPECT_LT(KeyOrder{order}.Compare("", key), 0);
      EXPECT_GT(KeyOrder{order}.Compare(key, ""), 0);
      EXPECT_EQ(KeyOrder{order}.Compare("", ""), 0);
    }
  }
}

TEST(CellKey, AfterARowIsBehindItsCellsAndBeforeTheNextRow) {
  for (const RowOrder order : {RowOrder::kPlain, RowOrder::kMeta}) {
    const std::string after = AfterPrefix(RowPrefix("t,a,1"));
    const std::string last = CellKey(Cell{"t,a,1", "\xff", "\xff", 0, CellType::kPut, ""}, 0);
    const std::string next = CellKey(Cell{std::string("t,a,1\0", 6), "f", "q", 1, CellType::kPut, ""}, 1);
    EXPECT_GT(KeyOrder{order}.Compare(after, last), 0);
    EXPECT_LT(KeyOrder{order}.Compare(after, next), 0);
  }
}

// Flags first; values of servers before tags have at most the first flag.
TEST(CellKey, StoredValuesHaveATimeToLiveAndTags) {
  const std::string tags("\0\x03\x41xy", 5);
  EXPECT_EQ(EncodeStoredValue("v", std::nullopt), std::string("\0v", 2));
  EXPECT_EQ(EncodeStoredValue("v", 5), std::string("\1\5v"));
  EXPECT_EQ(EncodeStoredValue("v", 0), std::string("\1\0v", 3)) << "0 is a time to live, not 'none'";
  using Ttl = std::optional<std::int64_t>;
  for (const Ttl ttl : {Ttl(), Ttl(0), Ttl(-1), Ttl(5), Ttl(INT64_MIN), Ttl(INT64_MAX)}) {
    for (const std::string& some : {std::string(), tags}) {
      const std::string stored = EncodeStoredValue("value", ttl, some);
      const auto back = SplitStoredValue(stored);
      ASSERT_TRUE(back.ok());
      EXPECT_EQ(back->value, "value");
      EXPECT_EQ(back->ttl_ms, ttl);
      EXPECT_EQ(back->tags, some);
    }
  }
  for (const std::string& bad : {std::string(), std::string("\4v"), std::string("\2\xff"), std::string("\2\3abc")})
    EXPECT_FALSE(SplitStoredValue(bad).ok());
}

// A store file with correct checksums but invalid keys: errors, and no cell that could not be sent.
TEST(CellKey, WhatIsNoKeyIsAnError) {
  const std::string value = EncodeStoredValue("v", std::nullopt);
  for (const std::string& key : {std::string(), std::string("short"), std::string(17, '\0'), std::string(40, 'x')}) {
    EXPECT_FALSE(DecodeStoredCell(key, value).ok());
    (void)SequenceOf(key);
    for (const RowOrder order : {RowOrder::kPlain, RowOrder::kMeta})
      EXPECT_EQ(Sign(KeyOrder{order}.Compare(key, "other")), -Sign(KeyOrder{order}.Compare("other", key)));
  }
  EXPECT_EQ(DecodeStoredCell(CellKey(Cell{std::string(40'000, 'r'), "f", "q", 1, CellType::kPut, ""}, 1), value)
                .error()
                .code(),
            Code::kCorruption);
  EXPECT_EQ(
      DecodeStoredCell(CellKey(Cell{"r", std::string(300, 'f'), "q", 1, CellType::kPut, ""}, 1), value).error().code(),
      Code::kCorruption);
}

}  // namespace
}  // namespace ratchet::regionserver
