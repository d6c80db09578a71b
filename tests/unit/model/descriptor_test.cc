#include "common/model/table_descriptor.h"

#include <gtest/gtest.h>

#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"

namespace ratchet {
namespace {

TableDescriptor SampleTable() {
  TableDescriptor table;
  table.name = TableName("ns", "t");
  table.attributes["X_UNKNOWN"] = "kept";
  table.configuration["some.key"] = "v";
  table.families = {DefaultFamily("a"), DefaultFamily("b")};
  table.families[1].configuration["k"] = "w";
  return table;
}

TEST(TableDescriptorTest, SurvivesTheWireVerbatim) {
  hbase::pb::TableSchema schema;
  ToProto(SampleTable(), schema);
  EXPECT_EQ(FromProto(schema).value(), SampleTable());
}

TEST(TableDescriptorTest, TypedSettings) {
  FamilyDescriptor family;
  family.name = "f";
  EXPECT_EQ(family.max_versions(), 1);
  EXPECT_EQ(family.min_versions(), 0);
  EXPECT_FALSE(family.ttl_millis().has_value());
  family.attributes = {{"VERSIONS", "3"}, {"TTL", "10"}, {"MIN_VERSIONS", "2"}};
  EXPECT_EQ(family.max_versions(), 3);
  EXPECT_EQ(family.min_versions(), 2);
  EXPECT_EQ(family.ttl_millis(), 10'000);
  EXPECT_FALSE(DefaultFamily("f").ttl_millis().has_value());
}

TEST(TableDescriptorTest, ChecksWhatAClientMaySend) {
  EXPECT_TRUE(SampleTable().Check().ok());
  EXPECT_TRUE(MetaTableDescriptor().Check().ok());
  const auto refuses = [](auto change) {
    TableDescriptor table = SampleTable();
    change(table);
    return !table.Check().ok();
  };
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families.clear(); }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[1].name = "a"; }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[0].name = "a:b"; }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[0].name = ""; }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[0].name = std::string(128, 'x'); }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[0].attributes["VERSIONS"] = "0"; }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[0].attributes["VERSIONS"] = "many"; }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[0].attributes["TTL"] = "-1"; }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.families[0].attributes["MIN_VERSIONS"] = "2"; }));
  EXPECT_TRUE(refuses([](TableDescriptor& t) { t.name.qualifier = ".t"; }));
}

}  // namespace
}  // namespace ratchet
