#include "common/model/cell_codec.h"

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/model/proto/client.pb.h"

namespace ratchet {
namespace {

using namespace std::string_literals;

TEST(CellBlockTest, GoldenBytes) {
  std::string block;
  AppendCell(Cell{"row", "f", "qu", 0x0102030405060708, CellType::kPut, "value"}, block);
  EXPECT_EQ(block,
            "\0\0\0\x1f"s  // 8 + key + value
            "\0\0\0\x12"s  // key: 2 + 3 + 1 + 1 + 2 + 8 + 1
            "\0\0\0\x05"s  // value
            "\0\x03row"s
            "\x01"
            "f"
            "qu"
            "\x01\x02\x03\x04\x05\x06\x07\x08"
            "\x04"
            "value");
  EXPECT_EQ(block.size(), EncodedCellSize(Cell{"row", "f", "qu", 1, CellType::kPut, "value"}));
}

TEST(CellBlockTest, RoundTripsRandomCells) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  const auto bytes = [&](std::uint64_t most) {
    std::string out(prng.Below(most + 1), '\0');
    for (char& c : out) c = static_cast<char>(prng.Below(256));
    return out;
  };
  constexpr CellType kTypes[] = {CellType::kPut, CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                                 CellType::kDeleteFamilyVersion};
  for (int round = 0; round < 200; ++round) {
    std::vector<Cell> cells;
    std::string block;
    for (std::uint64_t i = prng.Below(6); i > 0; --i) {
      cells.push_back(Cell{bytes(300), bytes(127), bytes(40), static_cast<std::int64_t>(prng.Next()),
                           kTypes[prng.Below(5)], bytes(500)});
      AppendCell(cells.back(), block);
    }
    CellBlockReader reader(block);
    EXPECT_EQ(reader.Take(cells.size()).value(), cells);
    EXPECT_TRUE(reader.AtEnd());
    EXPECT_FALSE(reader.Next().ok());
  }
}

TEST(CellBlockTest, TornAndFlippedBlocksAreErrorsNotCrashes) {
  std::string block;
  AppendCell(Cell{"row", "f", "qu", 7, CellType::kPut, "value"}, block);
  for (std::size_t cut = 0; cut < block.size(); ++cut) {
    EXPECT_FALSE(CellBlockReader(std::string_view(block).substr(0, cut)).Next().ok()) << cut;
  }
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = block;
    damaged[prng.Below(damaged.size())] = static_cast<char>(prng.Below(256));
    CellBlockReader reader(damaged);
    while (!reader.AtEnd() && reader.Next().ok()) {
    }
  }
}

TEST(ProtoCellTest, KeepsZeroAndEmptyValues) {
  hbase::pb::Cell message;
  const Cell cell{"r", "", "", 0, CellType::kPut, ""};
  ToProto(cell, message);
  EXPECT_TRUE(message.has_timestamp());
  EXPECT_TRUE(message.has_value());
  EXPECT_EQ(FromProto(message).value(), cell);
  message.set_cell_type(hbase::pb::MAXIMUM);
  EXPECT_FALSE(FromProto(message).ok());
}

TEST(ResultTest, BlockOrMessage) {
  const std::vector<Cell> cells{{"r", "f", "a", 1, CellType::kPut, "1"}, {"r", "f", "b", 2, CellType::kPut, "2"}};
  std::string block;
  hbase::pb::Result with_block;
  FillResult(cells, &block, with_block);
  EXPECT_EQ(with_block.cell_size(), 0);
  EXPECT_EQ(with_block.associated_cell_count(), 2);
  CellBlockReader reader(block);
  EXPECT_EQ(ReadResult(with_block, reader).value(), cells);

  hbase::pb::Result without;
  FillResult(cells, nullptr, without);
  EXPECT_FALSE(without.has_associated_cell_count());
  CellBlockReader empty("");
  EXPECT_EQ(ReadResult(without, empty).value(), cells);
}

TEST(MutationTest, TakesColumnsAndBlock) {
  using hbase::pb::MutationProto;
  MutationProto mutation;
  mutation.set_row("r");
  mutation.set_mutate_type(MutationProto::DELETE);
  mutation.set_timestamp(9);
  auto* column = mutation.add_column_value();
  column->set_family("f");
  auto* one = column->add_qualifier_value();
  one->set_qualifier("q");
  one->set_delete_type(MutationProto::DELETE_MULTIPLE_VERSIONS);
  auto* family = column->add_qualifier_value();
  family->set_delete_type(MutationProto::DELETE_FAMILY);
  family->set_timestamp(0);
  CellBlockReader empty("");
  const auto cells = ReadMutationCells(mutation, empty).value();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0], (Cell{"r", "f", "q", 9, CellType::kDeleteColumn, ""}));
  EXPECT_EQ(cells[1], (Cell{"r", "f", "", 0, CellType::kDeleteFamily, ""}));

  MutationProto from_block;
  from_block.set_row("r");
  from_block.set_mutate_type(MutationProto::PUT);
  from_block.set_associated_cell_count(1);
  std::string block;
  AppendCell(Cell{"r", "f", "q", kLatestTimestamp, CellType::kPut, "v"}, block);
  CellBlockReader reader(block);
  EXPECT_EQ(ReadMutationCells(from_block, reader).value().size(), 1u);
  CellBlockReader again(block);
  from_block.set_row("other");
  EXPECT_FALSE(ReadMutationCells(from_block, again).ok());
  CellBlockReader third(block);
  from_block.set_row("r");
  from_block.set_associated_cell_count(2);
  EXPECT_FALSE(ReadMutationCells(from_block, third).ok());
}

}  // namespace
}  // namespace ratchet
