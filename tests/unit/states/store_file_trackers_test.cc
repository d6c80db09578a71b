#include "master/policy/store_file_trackers.h"

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

constexpr const char* kFromKey = "hbase.store.file-tracker.migration.src.impl";
constexpr const char* kToKey = "hbase.store.file-tracker.migration.dst.impl";

TableDescriptor Table(const std::string& tracker = "", const std::string& from = "", const std::string& to = "") {
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.families.push_back(DefaultFamily("f"));
  const auto put = [&table](std::string_view key, const std::string& value) {
    if (!value.empty()) table.attributes[std::string(key)] = value;
  };
  put(kFileTrackerKey, tracker);
  put(kFromKey, from);
  put(kToKey, to);
  return table;
}

TEST(StoreFileTrackersTest, OnlyHBasesNamesAreOnes) {
  EXPECT_TRUE(CheckTrackers(Table()).ok());
  for (const char* name : {"DEFAULT", "FILE", "file"}) {
    EXPECT_TRUE(CheckTrackers(Table(name)).ok());
    EXPECT_TRUE(CheckNewTrackers(Table(name)).ok());
  }
  EXPECT_FALSE(CheckTrackers(Table("org.example.Tracker")).ok());
  EXPECT_FALSE(CheckTrackers(Table("MIGRATION")).ok());
  EXPECT_FALSE(CheckTrackers(Table("MIGRATION", "FILE", "FILE")).ok());
  EXPECT_FALSE(CheckTrackers(Table("MIGRATION", "FILE", "MIGRATION")).ok());
  EXPECT_TRUE(CheckTrackers(Table("MIGRATION", "FILE", "DEFAULT")).ok());
  EXPECT_FALSE(CheckNewTrackers(Table("MIGRATION", "FILE", "DEFAULT")).ok());
  TableDescriptor family = Table("FILE");
  family.families.front().configuration[std::string(kFileTrackerKey)] = "nonsense";
  EXPECT_FALSE(CheckTrackers(family).ok()) << "the family's word counts";
}

TEST(StoreFileTrackersTest, AChangeGoesByMigration) {
  EXPECT_TRUE(CheckTrackerChange(Table("FILE"), Table("FILE")).ok());
  EXPECT_TRUE(CheckTrackerChange(Table(), Table("DEFAULT")).ok());
  EXPECT_FALSE(CheckTrackerChange(Table("FILE"), Table("DEFAULT")).ok());
  const TableDescriptor under_way = Table("MIGRATION", "FILE", "DEFAULT");
  EXPECT_TRUE(CheckTrackerChange(Table("FILE"), under_way).ok());
  EXPECT_FALSE(CheckTrackerChange(Table("DEFAULT"), under_way).ok());
  EXPECT_TRUE(CheckTrackerChange(under_way, Table("DEFAULT")).ok());
  EXPECT_FALSE(CheckTrackerChange(under_way, Table("FILE")).ok());
  EXPECT_FALSE(CheckTrackerChange(under_way, Table("MIGRATION", "DEFAULT", "FILE")).ok());
}

TEST(StoreFileTrackersTest, AVerbPutsATableOrAFamilyToRest) {
  const TableDescriptor under_way = Table("MIGRATION", "FILE", "DEFAULT");
  const TableDescriptor table = WithTracker(under_way, std::nullopt, "FILE").value();
  EXPECT_EQ(table.attributes, (Attributes{{std::string(kFileTrackerKey), "FILE"}}));
  const TableDescriptor family = WithTracker(Table("FILE"), "f", "DEFAULT").value();
  EXPECT_EQ(family.families.front().configuration.at(std::string(kFileTrackerKey)), "DEFAULT");
  EXPECT_TRUE(CheckTrackers(family).ok());
  EXPECT_FALSE(WithTracker(under_way, std::nullopt, "MIGRATION").ok());
  EXPECT_FALSE(WithTracker(under_way, std::nullopt, "").ok());
  EXPECT_EQ(WithTracker(under_way, "g", "FILE").error().remote_class(),
            "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
}

}  // namespace
}  // namespace ratchet::master
