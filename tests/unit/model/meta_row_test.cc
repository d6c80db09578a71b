#include "common/model/meta_row.h"

#include <algorithm>

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
  row.issued = 77;
  row.served = 66;
  row.flushed = 5;
  return row;
}

TEST(MetaRowTest, RoundTrips) {
  EXPECT_EQ(DecodeMetaRow(EncodeMetaRow(SampleRow())).value(), SampleRow());
  MetaRow bare;
  bare.region = SampleRow().region;
  EXPECT_EQ(EncodeMetaRow(bare).size(), 1u);
  EXPECT_EQ(DecodeMetaRow(EncodeMetaRow(bare)).value(), bare);
}

// S118 (older copy stays closed): a later write, by a master of an earlier version, leaves the column unchanged.
TEST(MetaRowTest, AnIssuedNumberOfAnotherWriteIsUnknown) {
  std::vector<Cell> cells = EncodeMetaRow(SampleRow());
  for (Cell& cell : cells)
    if (cell.qualifier == meta::kTransition) cell.value = EncodeInt64(10);
  const MetaRow read = DecodeMetaRow(cells).value();
  EXPECT_FALSE(read.issued.has_value());
  EXPECT_EQ(read.served, 66U);
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

TEST(MetaRowTest, AnIpv6AddressStandsInBrackets) {
  MetaRow row = SampleRow();
  row.server = ServerName{"::1", 24'022, 7};
  std::vector<Cell> cells = EncodeMetaRow(row);
  const auto server =
      std::find_if(cells.begin(), cells.end(), [](const Cell& cell) { return cell.qualifier == meta::kServer; });
  ASSERT_NE(server, cells.end());
  EXPECT_EQ(server->value, "[::1]:24022") << "HBase's clients cannot read it otherwise";
  EXPECT_EQ(DecodeMetaRow(cells).value(), row);
  server->value = "::1:24022";  // as earlier versions wrote it
  EXPECT_EQ(DecodeMetaRow(cells).value(), row);
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
