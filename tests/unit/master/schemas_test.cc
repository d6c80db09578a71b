// S68 (unreadable schema is an error): the master never uses a default schema; only that table stops.
#include "common/base/mutant.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class SchemaTest : public MasterTest {
 protected:
  sim::TableFiles& FilesOf(const std::string& table) {
    return cluster_.storage().tables.at(cluster_.meta().tables().at(TableName("default", table)).directory);
  }
  std::vector<std::string> Problems() { return master().logic().reconciler.Problems(); }
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
  Result<ProcId> Alter(const char* family) {
    SchemaChange change;
    change.kind = ChangeKind::kAddFamily;
    change.asked.name = TableName("default", "t");
    change.asked.families.push_back(DefaultFamily(family));
    return master().Ask([&](Done done) { admin().ModifyTable(change, true, {"me", {}}, done); });
  }
  // The change was started; its first step cannot read the descriptor.
  void AlterWhileTheDescriptorIsWithheld() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    FilesOf("t").descriptor_withheld = true;
    begun_ = Alter("g");
    ASSERT_TRUE(cluster_.RunFor(Millis(5'000)));
  }
  Result<ProcId> begun_{Error(Code::kAborted, "not asked")};
  std::size_t Open(const std::string& table) {
    std::size_t open = 0;
    for (const RegionNode& node : Regions(table)) open += node.state == RegionState::kOpen ? 1 : 0;
    return open;
  }
};

TEST_F(SchemaTest, UnreadableSchemaBlocksOnlyItsTable) {
  DescriptorIsDamagedAndAServerDies();
  EXPECT_LT(Open("t"), 4U);
  EXPECT_EQ(Open("u"), 4U);
  ASSERT_EQ(Problems().size(), 1U);
  EXPECT_NE(Problems()[0].find("table t cannot be read"), std::string::npos) << Problems()[0];
  EXPECT_NE(Problems()[0].find("checksum"), std::string::npos) << "without its cause: " << Problems()[0];
  EXPECT_NE(Problems()[0].find("disable and drop"), std::string::npos) << "without what to do: " << Problems()[0];
  EXPECT_TRUE(cluster_.storage().violations.empty());
  // It is read again without intervention.
  FilesOf("t").descriptor_damaged = false;
  ExpectServed("t", 4);
  EXPECT_TRUE(Problems().empty());
}

TEST_F(SchemaTest, TableWithoutSchemaIsDisabledAndDropped) {
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
  master().logic().reconciler.Sweep();
  EXPECT_EQ(Outcome(Move(Encoded("t"))), "unfinished");
  ExpectServed("t", 1);
}

// The storage has no free descriptor: a request is answered with "try again", a procedure that has begun retries.
TEST_F(SchemaTest, TransientSchemaReadErrorIsRetried) {
  AlterWhileTheDescriptorIsWithheld();
  EXPECT_EQ(Outcome(begun_), "unfinished");
  FilesOf("t").descriptor_withheld = false;
  ExpectServed("t", 2);
  EXPECT_EQ(Outcome(begun_), "success");
  EXPECT_TRUE(Problems().empty());
}

TEST_F(SchemaTest, RequestGetsARetryableErrorWhileTheSchemaIsUnreadable) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  FilesOf("t").descriptor_withheld = true;
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  ASSERT_EQ(Problems().size(), 1U);
  EXPECT_NE(Problems()[0].find("at this time"), std::string::npos) << Problems()[0];
  EXPECT_EQ(Problems()[0].find("disable and drop"), std::string::npos) << "for a file that may be sound";
  const auto refused = Alter("g");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote_class(), "org.apache.hadoop.hbase.PleaseHoldException");
  FilesOf("t").descriptor_withheld = false;
  ExpectServed("t", 2);
}

TEST_F(SchemaTest, FailingOnATransientReadErrorIsNoticed) {
  const ScopedMutant mutant("master.final_for_the_moment");
  AlterWhileTheDescriptorIsWithheld();
  EXPECT_NE(Outcome(begun_).find("cannot be read"), std::string::npos);
}

TEST_F(SchemaTest, DescriptorOfAnotherTableIsRejected) {
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
    master().logic().reconciler.Sweep();
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
