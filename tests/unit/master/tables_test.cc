// Tables: created, enabled, disabled, deleted, refused, undone.
#include <set>

#include "common/model/name_rules.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

TEST_F(MasterTest, NamesAndKeysThatCannotBeKeptAreRefusedAtOnce) {
  cluster_.Boot(2);
  const auto create = [this](const TableDescriptor& descriptor, std::vector<std::string> keys) {
    return master().Ask([&](Done done) { admin().CreateTable(descriptor, std::move(keys), {"me", {}}, done); });
  };
  const auto refused = [&](const TableDescriptor& descriptor, std::vector<std::string> keys) {
    const auto pid = create(descriptor, std::move(keys));
    return !pid.ok() && pid.error().code() == Code::kInvalidArgument;
  };
  EXPECT_TRUE(refused(Descriptor(std::string(260, 't')), {}));
  EXPECT_TRUE(refused(Descriptor("t"), {std::string(32'740, 'k')}));
  TableDescriptor family = Descriptor("t");
  family.families.front().name = std::string(128, 'f');
  EXPECT_TRUE(refused(family, {}));
  TableDescriptor huge = Descriptor("t");
  huge.attributes["comment"] = std::string(5u << 20, 'x');
  EXPECT_TRUE(refused(huge, {}));
  // Just below the limits everything is as ever.
  const std::string longest(kMaxTableNamePartBytes, 't');
  const auto pid = create(Descriptor(longest), {std::string(32'000, 'k')});
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(MasterTest, ATablesWholeLife) {
  cluster_.Boot(2);
  GivenTable("t", 3);
  EXPECT_EQ((void(0), Outcome(Delete("t"))).find("FAILED_PRECONDITION"), 0U);
  auto pid = Disable("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_EQ(cluster_.meta().tables().at(TableName("default", "t")).state, TableState::kDisabled);
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
  pid = Enable("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
  pid = Disable("t");
  ExpectSettled();
  pid = Delete("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
  EXPECT_TRUE(cluster_.meta().tables().empty());
  EXPECT_TRUE(cluster_.meta().regions().empty());
  GivenTable("t", 2);  // the name may come back, its directory does not
  ExpectSettled();
}

TEST_F(MasterTest, TwoCreationsOfOneTable) {
  cluster_.Boot(2);
  std::vector<Result<ProcId>> pids;
  for (int i = 0; i < 2; ++i) {
    admin().CreateTable(Descriptor("t"), {}, {"me", {}}, [&](Result<ProcId> pid) { pids.push_back(std::move(pid)); });
  }
  ASSERT_TRUE(cluster_.RunUntil([&] { return pids.size() == 2; }));
  ExpectSettled();
  EXPECT_EQ(Outcome(pids[0]), "success");
  EXPECT_NE(Outcome(pids[1]).find("exists"), std::string::npos);
  EXPECT_EQ(cluster_.storage().tables.size(), 2U);  // t and hbase:meta
}

TEST_F(MasterTest, TheSameNonceGivesTheSamePidAcrossMasters) {
  cluster_.Boot(2);
  const auto first = Create("t", 2, {1, 2});
  ASSERT_TRUE(cluster_.Settle());
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  const auto second = Create("t", 2, {1, 2});
  EXPECT_EQ(first.value(), second.value());
  EXPECT_EQ(Outcome(second), "success");
}

TEST_F(MasterTest, AFailedCreationLeavesNothing) {
  cluster_.Boot(2);
  cluster_.storage().next_layout_error = Error(Code::kNoSpace, "disk full");
  const auto pid = Create("t", 2);
  ExpectSettled();
  EXPECT_NE(Outcome(pid).find("disk full"), std::string::npos);
  EXPECT_TRUE(cluster_.meta().tables().empty());
  EXPECT_EQ(cluster_.storage().tables.size(), 1U);
  GivenTable("t", 2);
}

TEST_F(MasterTest, AnAbortedCreationTakesItsRowsBack) {
  cluster_.Boot(2);
  const auto pid = Create("t", 2);
  ASSERT_TRUE(cluster_.RunUntil([&] { return !cluster_.meta().tables().empty(); }));
  // Its rows are in meta, its next step is not yet durable.
  master().executor().Abort(*pid, {"operator", "test"}, [](const Status& status) { EXPECT_TRUE(status.ok()); });
  ExpectSettled();
  EXPECT_NE(Outcome(pid), "success");
  EXPECT_TRUE(cluster_.meta().tables().empty());
  EXPECT_TRUE(cluster_.meta().regions().empty());
  EXPECT_EQ(cluster_.storage().tables.size(), 1U);
}

TEST_F(MasterTest, BadRequestsAreRefusedInHBasesWords) {
  cluster_.Boot(1);
  GivenTable("t", 1);
  const std::string p = "org.apache.hadoop.hbase.";
  EXPECT_EQ(Create("t", 1).error().remote_class(), p + "TableExistsException");
  EXPECT_EQ(Enable("t").error().remote_class(), p + "TableNotDisabledException");
  EXPECT_EQ(Delete("t").error().remote_class(), p + "TableNotDisabledException");
  EXPECT_EQ(Disable("nope").error().remote_class(), p + "TableNotFoundException");
  EXPECT_EQ(Delete("nope").error().remote_class(), p + "TableNotFoundException");
  EXPECT_EQ(Create("bad name", 1).error().remote_class(), p + "DoNotRetryIOException");
  const auto keys = master().Ask([&](Done done) { admin().CreateTable(Descriptor("u"), {"b", "a"}, {"me", {}}, done); });
  EXPECT_EQ(keys.error().remote_class(), p + "DoNotRetryIOException");
}

TEST_F(MasterTest, ADisablingTableWhoseServerDies) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& victim = OtherThan(MetaHost());
  victim.cut_off = true;
  const auto pid = Disable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] {
    for (const ProcId order : master().executor().FindUnfinished("CloseRegion")) {
      if (master().executor().Get(order)->description.find(victim.name().ToString()) != std::string::npos) return true;
    }
    return false;
  }));
  const std::set<ServerName> closing = [&] {
    std::set<ServerName> servers;
    for (const RegionNode& node : Regions("t")) servers.insert(node.location.value_or(ServerName{}));
    return servers;
  }();
  ASSERT_TRUE(closing.contains(victim.name())) << "it had no region of the table";
  cluster_.Kill(victim);
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
  (void)Enable("t");
  ExpectServed("t", 6);  // with every write that was only in the dead server's log
}

// HBASE-29190: a region that no server can open blocked the disabling of its table.
TEST_F(MasterTest, ARegionThatCannotBeOpenedDoesNotBlockDisabling) {
  cluster_.Boot(1);
  GivenTable("t", 2);
  cluster_.Alive().front()->refuse_opens = 1'000'000;
  (void)Move(Encoded("t"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return Regions("t")[0].failed_opens > 4; }));
  const auto pid = Disable("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(MasterTest, TablesSurviveTheMaster) {
  cluster_.Boot(2);
  GivenTable("t", 3);
  (void)Disable("t");
  ASSERT_TRUE(cluster_.Settle());
  GivenTable("u", 2);
  cluster_.StartMaster();
  ExpectSettled();
  EXPECT_EQ(master().logic().tables().Get(TableName("default", "t"))->state, TableState::kDisabled);
  EXPECT_EQ(Regions("u").size(), 2U);
}

}  // namespace
}  // namespace ratchet::master
