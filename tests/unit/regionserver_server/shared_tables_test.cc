// Descriptors that the regions of a table share.
#include <gtest/gtest.h>

#include <vector>

#include <fmt/format.h>

#include "regionserver/region/shared_table.h"

namespace ratchet::regionserver {
namespace {

TableDescriptor Table(const std::string& name, const std::string& versions) {
  TableDescriptor table;
  table.name = TableName("default", name);
  table.families = {DefaultFamily("f")};
  table.families.front().attributes["VERSIONS"] = versions;
  return table;
}

TEST(SharedTablesTest, RegionsOfATableShareItsDescriptorUntilItChanges) {
  SharedTables tables;
  const auto first = tables.Share(Table("t", "1"));
  EXPECT_EQ(tables.Share(Table("t", "1")).content(), first.content());
  EXPECT_NE(tables.Share(Table("u", "1")).content(), first.content());
  const auto altered = tables.Share(Table("t", "2"));
  EXPECT_EQ(*altered, Table("t", "2"));
  EXPECT_EQ(*first, Table("t", "1"));
  EXPECT_EQ(tables.Share(Table("t", "2")).content(), altered.content());
}

TEST(SharedTablesTest, TablesWithoutRegionsAreForgotten) {
  SharedTables tables;
  std::vector<SharedTable> kept;
  for (int i = 0; i < 5'000; ++i) {
    auto shared = tables.Share(Table(fmt::format("t{}", i), "1"));
    if (i % 100 == 0) kept.push_back(std::move(shared));
  }
  EXPECT_LT(tables.size(), 200U);
  EXPECT_EQ(tables.Share(Table("t4900", "1")).content(), kept.back().content());
}

}  // namespace
}  // namespace ratchet::regionserver
