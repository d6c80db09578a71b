// S68: a table's descriptor that cannot be read is an error, never a default; at most that table stands still.
#include "common/base/mutant.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class SchemaTest : public MasterTest {
 protected:
  sim::TableFiles& FilesOf(const std::string& table) {
    return cluster_.storage().tables.at(cluster_.meta().tables().at(TableName("default", table)).directory);
  }
  std::vector<std::string> Problems() { return master().logic().reconciler().Problems(); }
  // A failover finds the descriptor of t damaged; then a server dies that has a region of it.
  void DescriptorIsDamagedAndAServerDies() {
    cluster_.Boot(3);
    GivenTable("t", 4);
    GivenTable("u", 4);
    FilesOf("t").descriptor_damaged = true;
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.Settle());
    sim::SimServer& victim = HostOf(Encoded("t"));
    cluster_.Kill(victim);
    ASSERT_TRUE(cluster_.RunFor(Millis(5'000)));
  }
  std::size_t Open(const std::string& table) {
    std::size_t open = 0;
    for (const RegionNode& node : Regions(table)) open += node.state == RegionState::kOpen ? 1 : 0;
    return open;
  }
};

TEST_F(SchemaTest, OneThatCannotBeReadStopsItsTableOnly) {
  DescriptorIsDamagedAndAServerDies();
  EXPECT_LT(Open("t"), 4U);
  EXPECT_EQ(Open("u"), 4U);
  ASSERT_EQ(Problems().size(), 1U);
  EXPECT_NE(Problems()[0].find("table t cannot be read"), std::string::npos) << Problems()[0];
  EXPECT_NE(Problems()[0].find("checksum"), std::string::npos) << "without its cause: " << Problems()[0];
  EXPECT_NE(Problems()[0].find("disable and drop"), std::string::npos) << "without what to do: " << Problems()[0];
  EXPECT_TRUE(cluster_.storage().violations.empty());
  // It is read again without anybody's doing.
  FilesOf("t").descriptor_damaged = false;
  ExpectServed("t", 4);
  EXPECT_TRUE(Problems().empty());
}

TEST_F(SchemaTest, ATableWithoutOneIsDisabledAndDropped) {
  DescriptorIsDamagedAndAServerDies();
  const auto disabled = Disable("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(disabled), "success");
  const auto dropped = Delete("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(dropped), "success");
  EXPECT_TRUE(Problems().empty());
}

TEST_F(SchemaTest, NoRegionIsTakenFromItsServerThatCouldNotOpenElsewhere) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  FilesOf("t").descriptor_damaged = true;
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_NE(Outcome(Move(Encoded("t"))).find("cannot be read"), std::string::npos);
  EXPECT_EQ(Open("t"), 1U);
  FilesOf("t").descriptor_damaged = false;
  master().logic().reconciler().Sweep();
  EXPECT_EQ(Outcome(Move(Encoded("t"))), "unfinished");
  ExpectServed("t", 1);
}

TEST_F(SchemaTest, WhatIsNoDescriptorOfThisTableIsNotTaken) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  TableDescriptor& descriptor = FilesOf("t").descriptors.rbegin()->second;
  const TableDescriptor sound = descriptor;
  for (const bool other_table : {true, false}) {
    if (other_table)
      descriptor.name = TableName("default", "u");
    else
      descriptor.families.clear();
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.Settle());
    ASSERT_EQ(Problems().size(), 1U) << other_table;
    descriptor = sound;
    master().logic().reconciler().Sweep();
    EXPECT_TRUE(Problems().empty());
  }
  ExpectServed("t", 1);
}

#if defined(RATCHET_MUTANTS)
TEST_F(SchemaTest, AnEmptySchemaIsNoticed) {
  const ScopedMutant mutant("master.empty_schema");
  DescriptorIsDamagedAndAServerDies();
  EXPECT_FALSE(cluster_.storage().violations.empty());
}
#endif

}  // namespace
}  // namespace ratchet::master
