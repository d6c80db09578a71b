// The store file tracker of a table and of a family: a name in the descriptor, changed as any other.
#include "master/procedures/table/schema_change.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

constexpr const char* kKey = "hbase.store.file-tracker.impl";

class TrackerTest : public MasterTest {
 protected:
  std::string Alter(const SchemaChange& change) {
    const auto pid = master().Ask([&](Done done) { admin().ModifyTable(change, true, {"me", {}}, done); });
    if (!pid.ok()) return pid.error().remote_class();
    EXPECT_TRUE(cluster_.Settle(Millis(60'000))) << master().Unfinished();
    EXPECT_EQ(cluster_.CheckSettled(), "");
    return Outcome(pid);
  }
  const TableDescriptor& Schema() { return *(schema_ = master().logic().tables.Get(table_)->schema); }

  const TableName table_{"default", "t"};
  std::shared_ptr<const TableDescriptor> schema_;
};

TEST_F(TrackerTest, ChangesByItsVerbsOrByMigration) {
  cluster_.Boot(3);
  GivenTable("t", 2);
  EXPECT_EQ(Alter(TrackerChange(table_, std::nullopt, "FILE")), "success");
  EXPECT_EQ(Schema().attributes.at(kKey), "FILE");
  const std::string family = Schema().families.front().name;
  EXPECT_EQ(Alter(TrackerChange(table_, family, "DEFAULT")), "success");
  EXPECT_EQ(Schema().families.front().configuration.at(kKey), "DEFAULT");
  EXPECT_EQ(Alter(TrackerChange(table_, "missing", "FILE")),
            "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException");
  EXPECT_EQ(Alter(TrackerChange(table_, std::nullopt, "MIGRATION")), "org.apache.hadoop.hbase.DoNotRetryIOException");
  SchemaChange whole;
  whole.asked = Schema();
  whole.asked.attributes[kKey] = "DEFAULT";
  EXPECT_EQ(Alter(whole), "success") << "the family's own counts, and stays";
  whole.asked.families.front().configuration[kKey] = "FILE";
  EXPECT_EQ(Alter(whole), "org.apache.hadoop.hbase.DoNotRetryIOException");
}

}  // namespace
}  // namespace ratchet::master
