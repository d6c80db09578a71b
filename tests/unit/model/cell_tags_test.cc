#include "common/model/cell_tags.h"

#include <gtest/gtest.h>

#include "common/model/cell.h"
#include "common/model/cell_codec.h"
#include "common/model/proto/client.pb.h"

namespace ratchet {
namespace {

using namespace std::string_literals;

const std::string kTagA = "\0\x03\x41xy"s;  // type 65, "xy"

TEST(CellTagsTest, OnlyWholeTagsAreTags) {
  EXPECT_TRUE(CheckTags("").ok());
  EXPECT_TRUE(CheckTags(kTagA + kTagA).ok());
  EXPECT_TRUE(CheckTags("\0\x01\x41"s).ok()) << "a tag without bytes";
  for (const std::string& bad : {"\0\x01"s, "\0\0\x41"s, "\0\x04\x41xy"s, kTagA + "\0"s, "\0\x03\x08xy"s})
    EXPECT_FALSE(CheckTags(bad).ok());
  std::string many;
  while (many.size() <= kMaxTagsLength) many += kTagA;
  EXPECT_FALSE(CheckTags(many).ok());
}

TEST(CellTagsTest, TheTimeToLiveIsFoundAndTakenOut) {
  EXPECT_EQ(TtlIn(kTagA), std::nullopt);
  for (const std::int64_t over : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {  // values, not "none"
    std::string tags;
    AppendTtlTag(over, tags);
    EXPECT_TRUE(CheckTags(tags).ok()) << over;
    EXPECT_EQ(TtlIn(tags), over);
  }
  std::string tags = kTagA;
  AppendTtlTag(3'600'000, tags);
  AppendTtlTag(7, tags);
  tags += kTagA;
  EXPECT_TRUE(CheckTags(tags).ok());
  EXPECT_EQ(TtlIn(tags), 3'600'000) << "the first one counts";
  EXPECT_EQ(WithoutTtl(tags), kTagA + kTagA);
}

TEST(CellTagsTest, ProtectionIsFound) {
  EXPECT_EQ(ProtectionTagIn(kTagA), std::nullopt);
  EXPECT_EQ(ProtectionTagIn(kTagA + "\0\x02\x02x"s), 2);
}

// KeyValueCodecWithTags: two bytes of length and the tags follow the value; without tags the two codecs agree.
TEST(CellTagsTest, CellBlocksHaveTagsWhereTheCodecHasThem) {
  Cell cell{"row", "f", "q", 7, CellType::kPut, "value"};
  std::string plain;
  std::string same;
  AppendCell(cell, plain);
  AppendCell(cell, same, true);
  EXPECT_EQ(plain, same);
  cell.tags = kTagA;
  std::string without;
  std::string with;
  AppendCell(cell, without);
  AppendCell(cell, with, true);
  EXPECT_EQ(without, plain);
  EXPECT_EQ(with.size(), plain.size() + 2 + kTagA.size());
  EXPECT_EQ(with.size(), EncodedCellSize(cell));
  EXPECT_EQ(with.substr(4, 4), plain.substr(4, 4)) << "the key is the same";
  EXPECT_TRUE(with.ends_with("\0\x05"s + kTagA));
  CellBlockReader reader(with);
  const auto read = reader.Next();
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->Copy(), cell);
  EXPECT_TRUE(reader.AtEnd());
  std::string damaged = with;
  damaged[plain.size() + 1] = 4;
  EXPECT_FALSE(CellBlockReader(damaged).Next().ok());
}

TEST(CellTagsTest, MutationsBringTagsInMessagesToo) {
  hbase::pb::MutationProto put;
  put.set_row("r");
  put.set_mutate_type(hbase::pb::MutationProto::PUT);
  auto* value = put.add_column_value();
  value->set_family("f");
  value->add_qualifier_value()->set_tags(kTagA);
  CellBlockReader none("");
  EXPECT_EQ(ReadMutationCells(put, none)->front().tags, kTagA);
  value->mutable_qualifier_value(0)->set_tags("x");
  EXPECT_FALSE(ReadMutationCells(put, none).ok());
}

}  // namespace
}  // namespace ratchet
