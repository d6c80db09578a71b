#include "common/model/meta_row.h"

#include <gtest/gtest.h>

namespace ratchet {
namespace {

MetaRow SampleRow() {
  MetaRow row;
  row.region.table = TableName("default", "t");
  row.region.start_key = "a,b";
  row.region.end_key = "c";
  row.region.region_id = 17;
  row.server = ServerName{"127.0.0.1", 16020, 1700000000000};
  row.open_sequence = 0;
  row.target = ServerName{"127.0.0.1", 16021, 1700000000001};
  row.state = RegionState::kOpening;
  row.transition = 9;
  return row;
}

TEST(MetaRowTest, RoundTrips) {
  EXPECT_EQ(DecodeMetaRow(EncodeMetaRow(SampleRow())).value(), SampleRow());
  MetaRow bare;
  bare.region = SampleRow().region;
  EXPECT_EQ(EncodeMetaRow(bare).size(), 1u);
  EXPECT_EQ(DecodeMetaRow(EncodeMetaRow(bare)).value(), bare);
}

TEST(MetaRowTest, WritesHBasesColumns) {
  std::map<std::string, std::string> values;
  for (const Cell& cell : EncodeMetaRow(SampleRow())) {
    EXPECT_EQ(cell.row, SampleRow().region.name());
    EXPECT_EQ(cell.family, "info");
    values[cell.qualifier] = cell.value;
  }
  EXPECT_EQ(values["server"], "127.0.0.1:16020");
  EXPECT_EQ(values["serverstartcode"], EncodeInt64(1700000000000));
  EXPECT_EQ(values["sn"], "127.0.0.1,16021,1700000000001");
  EXPECT_EQ(values["state"], "OPENING");
  EXPECT_EQ(values["seqnumDuringOpen"], std::string(8, '\0'));
  EXPECT_TRUE(values["regioninfo"].starts_with("PBUF"));
}

TEST(MetaRowTest, NewestVersionWinsAndUnknownColumnsAreSkipped) {
  std::vector<Cell> cells = EncodeMetaRow(SampleRow());
  Cell old = cells.back();
  old.value = "not a number";
  cells.push_back(old);
  cells.push_back(Cell{cells[0].row, "info", "nonsuch", 1, CellType::kPut, "x"});
  cells.push_back(Cell{cells[0].row, "rep_barrier", "seqnumDuringOpen", 1, CellType::kPut, "x"});
  EXPECT_EQ(DecodeMetaRow(cells).value(), SampleRow());
}

TEST(MetaRowTest, NamesTheColumnThatCannotBeRead) {
  for (std::size_t i = 0; i < EncodeMetaRow(SampleRow()).size(); ++i) {
    std::vector<Cell> cells = EncodeMetaRow(SampleRow());
    cells[i].value = "?";
    const auto result = DecodeMetaRow(cells);
    ASSERT_FALSE(result.ok()) << cells[i].qualifier;
    EXPECT_EQ(result.error().code(), Code::kCorruption);
    EXPECT_NE(result.error().message().find(cells[i].qualifier), std::string::npos) << result.error().message();
  }
  EXPECT_EQ(DecodeMetaRow({}).error().code(), Code::kNotFound);
}

TEST(MetaRowTest, TableState) {
  for (const TableState state :
       {TableState::kEnabled, TableState::kDisabled, TableState::kDisabling, TableState::kEnabling}) {
    const Cell cell = EncodeTableState(TableName("ns", "t"), state);
    EXPECT_EQ(cell.row, "ns:t");
    EXPECT_EQ(cell.family + ":" + cell.qualifier, "table:state");
    EXPECT_EQ(DecodeTableState(cell.value).value(), state);
  }
  EXPECT_EQ(EncodeTableState(TableName("ns", "t"), TableState::kEnabled).value, std::string("\x08\x00", 2));
  EXPECT_FALSE(DecodeTableState("").ok());
}

TEST(RegionStateTest, TextsAndNumbers) {
  for (int number = 0; number < 32; ++number) {
    const auto state = RegionStateFromNumber(number);
    if (!state.has_value()) continue;
    EXPECT_EQ(ParseRegionState(RegionStateText(*state)), state);
  }
  EXPECT_EQ(RegionStateText(RegionState::kAbnormallyClosed), "ABNORMALLY_CLOSED");
  EXPECT_FALSE(RegionStateFromNumber(1).has_value());
  EXPECT_FALSE(ParseRegionState("open").has_value());
}

}  // namespace
}  // namespace ratchet
