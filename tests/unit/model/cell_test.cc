#include "common/model/cell.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/prng.h"
#include "common/model/meta_row.h"

namespace ratchet {
namespace {

int Sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }
int Meta(std::string_view a, std::string_view b) { return Sign(CompareRows(RowOrder::kMeta, a, b)); }

TEST(MetaOrderTest, KeysSortAsKeysNotAsText) {
  using namespace std::string_literals;
  EXPECT_LT(Meta("T,,1.x.", "T,\0,1.x."s), 0);    // plain bytes would have the opposite order
  EXPECT_LT(Meta("T,a,2.x.", "T,a,b,1.x."), 0);   // a comma inside the key
  EXPECT_LT(Meta("T,a,b,1.x.", "T,a-,1.x."), 0);  // ',' below '-'
  EXPECT_LT(Meta("T,a!,1.x.", "T,a,b,1.x."), 0);  // '!' below ','
  EXPECT_LT(Meta("T,a,1.x.", "T,a,2.x."), 0);     // equal keys: by id
  EXPECT_LT(Meta("T", "T,,1"), 0);                // the table's own row is before its regions
  EXPECT_LT(Meta("T,zzz,9", "T-2"), 0);           // all rows of T before those of a longer name
  EXPECT_LT(Meta("T-2", "T-2,,"), 0);
  EXPECT_EQ(Meta("T,a,1", "T,a,1"), 0);
}

TEST(MetaOrderTest, AcceptsProbesWithoutCommas) {
  const std::string probe(17, '\0');  // gohbase probes a region with its start key and 17 zero bytes
  EXPECT_LT(Meta(probe, "T,,1"), 0);
  EXPECT_EQ(Meta(probe, probe), 0);
  EXPECT_LT(Meta("", probe), 0);
}

TEST(MetaOrderTest, SearchRowFindsTheRegionOfARow) {
  const TableName table("default", "t");
  RegionInfo low;
  low.table = table;
  low.region_id = 99999999999999;
  RegionInfo high = low;
  high.start_key = "m,";
  const auto holds = [&](const RegionInfo& region, std::string_view row) {
    return Meta(region.name(), MetaSearchRow(table, row)) <= 0;
  };
  EXPECT_TRUE(holds(low, ""));
  EXPECT_FALSE(holds(high, "m"));
  EXPECT_TRUE(holds(high, "m,"));
  EXPECT_TRUE(holds(high, "m,a"));
  EXPECT_LT(Meta(table.ToString(), MetaFirstRow(table)), 0);
  EXPECT_LE(Meta(MetaFirstRow(table), low.name()), 0);
  EXPECT_LT(Meta(high.name(), MetaStopRow(table)), 0);
  EXPECT_LT(Meta(MetaStopRow(table), "t-longer"), 0);
  EXPECT_LT(Meta(MetaStopRow(table), "t1,,1"), 0);
}

std::string RandomRow(Prng& prng) {
  constexpr std::string_view kAlphabet = ",,,\x00\x01 !-:aZ9.\xff";
  std::string row;
  for (std::uint64_t length = prng.Below(9); length > 0; --length) row += kAlphabet[prng.Below(kAlphabet.size())];
  return row;
}

TEST(MetaOrderTest, IsATotalOrder) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = RandomRow(prng);
    const std::string b = RandomRow(prng);
    const std::string c = RandomRow(prng);
    ASSERT_EQ(Meta(a, b), -Meta(b, a));
    ASSERT_EQ(Meta(a, b) == 0, a == b);
    if (Meta(a, b) <= 0 && Meta(b, c) <= 0) {
      ASSERT_LE(Meta(a, c), 0);
    }
  }
}

TEST(MetaOrderTest, AgreesWithTableKeyIdForRegionRows) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int i = 0; i < 20'000; ++i) {
    const std::string left = RandomRow(prng);
    const std::string right = RandomRow(prng);
    const int expected = left < right ? -1 : left > right ? 1 : 0;
    ASSERT_EQ(Meta("T," + left + ",5", "T," + right + ",5"), expected);
  }
}

TEST(CellOrderTest, NewestFirstAndDeletesBeforePuts) {
  const Cell put{"r", "f", "q", 5, CellType::kPut, "v"};
  Cell newer = put;
  newer.timestamp = 6;
  Cell marker = put;
  marker.type = CellType::kDeleteColumn;
  Cell family = put;
  family.qualifier = "";
  family.timestamp = 1;
  const CellLess less;
  EXPECT_TRUE(less(newer, put));
  EXPECT_TRUE(less(marker, put));
  EXPECT_TRUE(less(family, newer));
  EXPECT_FALSE(less(put, put));
}

TEST(NumberTest, BigEndian) {
  EXPECT_EQ(EncodeInt64(0x0102030405060708), "\x01\x02\x03\x04\x05\x06\x07\x08");
  std::int64_t number = 0;
  EXPECT_TRUE(DecodeInt64(EncodeInt64(-2), number));
  EXPECT_EQ(number, -2);
  EXPECT_FALSE(DecodeInt64("1234567", number));
}

}  // namespace
}  // namespace ratchet
