#include <gtest/gtest.h>

#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/model/proto/filter.pb.h"
#include "master/dispatch/order_codec.h"
#include "master/meta/meta_edit_codec.h"
#include "master/rpc/table_filter.h"
#include "master/storage/descriptor_file.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

RegionInfo Region() {
  RegionInfo region;
  region.table = TableName("default", "t");
  region.start_key = "b";
  region.region_id = 12;
  return region;
}

TEST(DescriptorFileTest, EveryFlippedBitIsNoticed) {
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.families = {DefaultFamily("f")};
  const std::string bytes = EncodeDescriptorFile(table);
  EXPECT_EQ(DecodeDescriptorFile(bytes).value(), table);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_EQ(DecodeDescriptorFile(bad).error().code(), Code::kCorruption) << "byte " << i;
  }
  EXPECT_FALSE(DecodeDescriptorFile("").ok());
  const auto made = ParseDescriptorFileName("desc.17");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->number, 17U);
  const auto modified = ParseDescriptorFileName(DescriptorFileName(18, ProcId(9)));
  ASSERT_TRUE(modified.has_value());
  EXPECT_EQ(modified->number, 18U);
  EXPECT_EQ(modified->writer, 9U);
  EXPECT_LT(*made, *modified);
  EXPECT_EQ(DescriptorFileName(17, ProcId(17)), "desc.17");
  EXPECT_FALSE(ParseDescriptorFileName("desc.17.").has_value());
  EXPECT_FALSE(ParseDescriptorFileName("desc.17.1x").has_value());
  EXPECT_FALSE(ParseDescriptorFileName("desc.17.tmp").has_value());
  EXPECT_FALSE(ParseDescriptorFileName("desc.").has_value());
}

TEST(OrderCodecTest, OneRequestCarriesABatchWithEpochAndAttempts) {
  OpenOrder open;
  open.id = {ProcId(5), 2};
  open.region = Region();
  open.open_number = 5;
  open.opened_before = true;
  open.table_directory = "default/t.3";
  auto schema = std::make_shared<TableDescriptor>();
  schema->name = open.region.table;
  schema->families = {DefaultFamily("f")};
  open.schema = schema;
  CloseOrder close;
  close.id = {ProcId(6), 1};
  close.region = Region();
  SplitLogOrder split;
  split.id = {ProcId(7), 3};
  split.path = "wals/h,1,1-splitting/log.0000000001";
  split.log = {"log.0000000001", 100, 77, 9, false};
  const ServerName server{"h", 1, 42};
  const auto request = EncodeOrders(
      server, {std::make_shared<Order>(open), std::make_shared<Order>(close), std::make_shared<Order>(split)},
      {Epoch(8), 1000}, ProcId(4), 2000);
  EXPECT_TRUE(request.IsInitialized());
  EXPECT_EQ(request.epoch(), 8u);
  EXPECT_EQ(request.lowest_live_pid(), 4u);
  ASSERT_EQ(request.open_region_size(), 1);
  EXPECT_EQ(request.open_region(0).serverstartcode(), 42u);
  EXPECT_EQ(request.open_region(0).open_info(0).open_number(), 5u);
  EXPECT_EQ(request.open_region(0).open_info(0).attempt(), 2u);
  EXPECT_TRUE(request.open_region(0).open_info(0).opened_before());
  EXPECT_EQ(request.open_region(0).open_info(0).table_dir(), "default/t.3");
  ASSERT_EQ(request.close_region_size(), 1);
  EXPECT_EQ(request.close_region(0).epoch(), 8u);
  EXPECT_EQ(request.close_region(0).region().value(), Region().name());
  ASSERT_EQ(request.proc_size(), 1);
  pb::SplitWALParameter parameter;
  ASSERT_TRUE(parameter.ParseFromString(request.proc(0).proc_data()));
  EXPECT_EQ(parameter.sealed_length(), 100u);
  EXPECT_EQ(parameter.sealed_crc32c(), 77u);
  EXPECT_EQ(parameter.attempt(), 3u);
}

MetaEdit RegionEdit(MetaEdit::Kind kind, RegionState state) {
  MetaEdit edit;
  edit.kind = kind;
  edit.region.region = Region();
  edit.region.state = state;
  edit.region.location = ServerName{"h", 1, 42};
  edit.region.open_sequence = 17;
  edit.region.transition = 5;
  return edit;
}

std::set<std::string> Qualifiers(const pb::MutationProto& mutation) {
  std::set<std::string> names;
  for (const auto& column : mutation.column_value()) {
    for (const auto& value : column.qualifier_value()) names.insert(column.family() + ":" + value.qualifier());
  }
  return names;
}

TEST(MetaEditTest, EveryWriteCarriesTheEpochAndACondition) {
  for (const auto kind : {MetaEdit::Kind::kCreateRegion, MetaEdit::Kind::kUpdateRegion, MetaEdit::Kind::kDeleteRegion,
                          MetaEdit::Kind::kCreateTable, MetaEdit::Kind::kUpdateTable, MetaEdit::Kind::kDeleteTable}) {
    MetaEdit edit = RegionEdit(kind, RegionState::kOpening);
    edit.table.table = TableName("default", "t");
    edit.table.transition = 5;
    const auto request = EncodeEdit(edit, EditCondition::kAtMost, Epoch(9));
    ASSERT_TRUE(request.IsInitialized());
    ASSERT_EQ(request.mutation().attribute_size(), 1);
    EXPECT_EQ(request.mutation().attribute(0).name(), meta::kEpochAttribute);
    EXPECT_EQ(request.mutation().attribute(0).value(), std::string("\0\0\0\0\0\0\0\x09", 8));
    EXPECT_EQ(request.condition().row(), request.mutation().row());
    EXPECT_EQ(request.condition().qualifier(), meta::kTransition);
    EXPECT_EQ(request.condition().compare_type(), pb::GREATER_OR_EQUAL) << "expected >= stored";
    pb::BinaryComparator comparator;
    ASSERT_TRUE(comparator.ParseFromString(request.condition().comparator().serialized_comparator()));
    EXPECT_EQ(comparator.comparable().value(), std::string("\0\0\0\0\0\0\0\x05", 8));
    EXPECT_EQ(request.mutation().mutate_type() == pb::MutationProto::DELETE, IsDelete(edit));
  }
}

TEST(MetaEditTest, OnlyCreationsAcceptAnAbsentRow) {
  using Kind = MetaEdit::Kind;
  for (const auto kind : {Kind::kCreateRegion, Kind::kUpdateRegion, Kind::kDeleteRegion, Kind::kForgetMerged,
                          Kind::kCreateTable, Kind::kUpdateTable, Kind::kDeleteTable}) {
    const MetaEdit edit = RegionEdit(kind, RegionState::kOpening);
    const bool creates = kind == Kind::kCreateRegion || kind == Kind::kCreateTable;
    EXPECT_EQ(FirstCondition(edit), creates ? EditCondition::kAbsent : EditCondition::kAtMost);
    EXPECT_EQ(HasSecondCondition(edit), creates);
  }
}

TEST(MetaEditTest, OnlyOpenWritesTheServerThatClientsAsk) {
  const auto open =
      EncodeEdit(RegionEdit(MetaEdit::Kind::kUpdateRegion, RegionState::kOpen), EditCondition::kAtMost, Epoch(1));
  EXPECT_TRUE(Qualifiers(open.mutation()).contains("info:server"));
  EXPECT_TRUE(Qualifiers(open.mutation()).contains("info:seqnumDuringOpen"));
  const auto closing =
      EncodeEdit(RegionEdit(MetaEdit::Kind::kUpdateRegion, RegionState::kClosing), EditCondition::kAtMost, Epoch(1));
  EXPECT_FALSE(Qualifiers(closing.mutation()).contains("info:server"));
  EXPECT_TRUE(Qualifiers(closing.mutation()).contains("info:state"));
}

TEST(MetaEditTest, RowsReadBackAsTheyWereWritten) {
  const MetaEdit edit = RegionEdit(MetaEdit::Kind::kUpdateRegion, RegionState::kOpen);
  const auto request = EncodeEdit(edit, EditCondition::kAtMost, Epoch(1));
  CellBlockReader none("");
  MetaContents contents;
  ASSERT_TRUE(AddMetaRow(ReadMutationCells(request.mutation(), none).value(), &contents).ok());
  ASSERT_EQ(contents.regions.size(), 1u);
  EXPECT_EQ(contents.regions[0].region, edit.region.region);
  EXPECT_EQ(contents.regions[0].location, edit.region.location);
  EXPECT_EQ(contents.regions[0].open_sequence, 17u);
  EXPECT_EQ(contents.regions[0].transition, 5u);

  MetaEdit table;
  table.table = {TableName("default", "t"), TableState::kDisabling, "default/t.3", 11};
  for (const auto kind : {MetaEdit::Kind::kCreateTable, MetaEdit::Kind::kUpdateTable}) {
    table.kind = kind;
    contents.tables.clear();
    const auto put = EncodeEdit(table, FirstCondition(table), Epoch(1));
    ASSERT_TRUE(AddMetaRow(ReadMutationCells(put.mutation(), none).value(), &contents).ok());
    ASSERT_EQ(contents.tables.size(), 1u);
    EXPECT_EQ(contents.tables[0].table, table.table.table);
    EXPECT_EQ(contents.tables[0].state, TableState::kDisabling);
    EXPECT_EQ(contents.tables[0].directory, "default/t.3");
    EXPECT_EQ(contents.tables[0].transition, 11u);
  }
}

TEST(TableFilterTest, FollowsHBasesRules) {
  const TableName t("default", "orders");
  const TableName n("ns", "orders");
  const auto matches = [](const std::optional<std::string>& regex, const std::string& ns, bool system,
                          const TableName& name) { return TableFilter::Make(regex, ns, system).value().Matches(name); };
  EXPECT_TRUE(matches(std::nullopt, "", false, t));
  EXPECT_FALSE(matches("", "", false, t)) << "an empty pattern matches nothing";
  EXPECT_TRUE(matches("ord.*", "", false, t));
  EXPECT_FALSE(matches("ord", "", false, t)) << "patterns match in full";
  EXPECT_TRUE(matches("default:ord.*", "", false, t));
  EXPECT_FALSE(matches("ord.*", "", false, n));
  EXPECT_TRUE(matches("ns:.*", "", false, n));
  EXPECT_FALSE(matches(std::nullopt, "ns", false, t));
  EXPECT_FALSE(matches(std::nullopt, "", false, MetaTableName()));
  EXPECT_TRUE(matches(std::nullopt, "", true, MetaTableName()));
  EXPECT_TRUE(matches("o+", "", false, TableName("default", std::string(100'000, 'o')))) << "long names match too";
  EXPECT_FALSE(TableFilter::Make("(", "", false).ok());
  EXPECT_FALSE(TableFilter::Make(std::string(100'000, '('), "", false).ok());
}

}  // namespace
}  // namespace ratchet::master
