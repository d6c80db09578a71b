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
  // Just below the limits everything works as usual.
  const std::string longest(kMaxTableNamePartBytes, 't');
  const auto pid = create(Descriptor(longest), {std::string(32'000, 'k')});
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Outcome(pid), "success");
}

TEST_F(MasterTest, TheErrorOfUnorderedSplitKeysNamesTheKey) {
  cluster_.Boot(2);
  const auto refusal = [this](std::vector<std::string> keys) {
    const auto pid = master().Ask([&](Done done) {
      admin().CreateTable(Descriptor("t"), std::move(keys), {"me", {}}, done);
    });
    return pid.ok() ? std::string("accepted") : pid.error().message();
  };
  EXPECT_EQ(refusal({"a", "c", "b", "d"}), "split keys must rise: 'b' follows 'c'");
  EXPECT_EQ(refusal({"a", std::string("\x01", 1), "d"}), "split keys must rise: '\\x01' follows 'a'");
  EXPECT_EQ(refusal({"a", "b", "b"}), "split keys must be unique: 'b' is given twice");
  EXPECT_LT(refusal({std::string(20'000, 'b'), std::string(20'000, 'a')}).size(), 300u);
}

// An accepted setting is honoured, or is known to need no action here.
TEST_F(MasterTest, SettingsWithoutEffectAreRefused) {
  cluster_.Boot(2);
  using Setting = std::pair<const char*, const char*>;
  const auto create = [this](const std::vector<Setting>& table, const std::vector<Setting>& family) {
    TableDescriptor descriptor = Descriptor("t");
    for (const auto& [key, value] : table) descriptor.attributes[key] = value;
    for (const auto& [key, value] : family) descriptor.families.front().attributes[key] = value;
    return master().Ask([&](Done done) { admin().CreateTable(descriptor, {}, {"me", {}}, done); });
  };
  const auto refused = [&](const std::vector<Setting>& table, const std::vector<Setting>& family, const char* said) {
    const auto pid = create(table, family);
    ASSERT_FALSE(pid.ok()) << said;
    EXPECT_EQ(pid.error().remote_class(), "org.apache.hadoop.hbase.DoNotRetryIOException");
    EXPECT_NE(pid.error().message().find(said), std::string::npos) << pid.error().message();
  };
  // Requests that HBase's sanity checks refuse.
  for (const char* size : {"1024", "0", "many"}) {
    refused({{"MAX_FILESIZE", size}}, {}, "MAX_FILESIZE");
    refused({{"MEMSTORE_FLUSHSIZE", size}}, {}, "MEMSTORE_FLUSHSIZE");
  }
  refused({{"SPLIT_POLICY", "nonexisting.foo.class"}}, {}, "nonexisting.foo.class");
  refused({{"hbase.regionserver.region.split.policy", "nonexisting.foo.class"}}, {}, "nonexisting.foo.class");
  for (const char* size : {"0", "1023", "134217728"}) refused({}, {{"BLOCKSIZE", size}}, "BLOCKSIZE");
  refused({}, {{"REPLICATION_SCOPE", "2"}}, "REPLICATION_SCOPE");
  refused({}, {{"DFS_REPLICATION", "-1"}}, "DFS_REPLICATION");
  refused({}, {{"TTL", "0"}}, "TTL");
  refused({}, {{"MIN_VERSIONS", "2"}, {"VERSIONS", "1"}}, "MIN_VERSIONS");
  // Requests that are always refused, even if the checks are off.
  const Setting off{"hbase.table.sanity.checks", "false"};
  refused({off, {"REGION_REPLICATION", "3"}}, {}, "REGION_REPLICATION");
  refused({off, {"REGION_REPLICATION", "0"}}, {}, "at least one");
  refused({off, {"coprocessor$1", "|org.example.Observer|1073741823|"}}, {}, "coprocessor org.example.Observer:");
  refused({off}, {{"COMPRESSION", "LZO"}}, "COMPRESSION => LZO of column family f: NONE, SNAPPY, LZ4, GZ or ZSTD");
  refused({off}, {{"COMPRESSION_COMPACT", "brotli"}}, "COMPRESSION_COMPACT");
  refused({off}, {{"IS_MOB", "true"}}, "IS_MOB");
  refused({off}, {{"ENCRYPTION", "AES"}}, "ENCRYPTION");
  refused({off}, {{"KEEP_DELETED_CELLS", "PERHAPS"}}, "KEEP_DELETED_CELLS");
  refused({off}, {{"IN_MEMORY_COMPACTION", "INVALID"}}, "IN_MEMORY_COMPACTION");
  EXPECT_TRUE(cluster_.meta().tables().empty());
  const auto pid = create({off,
                           {"coprocessor$1", "|org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint|1|"},
                           {"MAX_FILESIZE", "1024"},
                           {"REGION_REPLICATION", "1"},
                           {"SPLIT_POLICY", "nonexisting.foo.class"}},
                          {{"BLOCKSIZE", "0"},
                           {"COMPRESSION", "zstd"},
                           {"COMPRESSION_COMPACT_MAJOR", "GZ"},
                           {"DATA_BLOCK_ENCODING", "FAST_DIFF"},
                           {"IN_MEMORY", "true"},
                           {"KEEP_DELETED_CELLS", "ttl"},
                           {"anything", "else"}});
  ExpectSettled();
  EXPECT_EQ(Outcome(pid), "success");
  const auto table = master().logic().tables.Get(TableName("default", "t"));
  EXPECT_EQ(table->schema->attributes.at("hbase.store.file-tracker.impl"), "DEFAULT") << "as HBase's master adds it";
}

TEST_F(MasterTest, MetaIsThereAndStays) {
  cluster_.Boot(1);
  TableDescriptor meta;  // without families, which is not the reason for the refusal
  meta.name = MetaTableName();
  const auto create = master().Ask([&](Done done) { admin().CreateTable(meta, {}, {"me", {}}, done); });
  ASSERT_FALSE(create.ok());
  EXPECT_EQ(create.error().remote_class(), "org.apache.hadoop.hbase.TableExistsException");
  EXPECT_NE(create.error().message().find("hbase:meta"), std::string::npos);
  const auto disable = master().Ask([&](Done done) { admin().DisableTable(MetaTableName(), {"me", {}}, done); });
  ASSERT_FALSE(disable.ok());
  EXPECT_EQ(disable.error().remote_class(), "org.apache.hadoop.hbase.constraint.ConstraintException");
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
  GivenTable("t", 2);  // the name may be used again, its directory may not
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
  const auto keys = master().Ask([&](Done done) {
    admin().CreateTable(Descriptor("u"), {"b", "a"}, {"me", {}}, done);
  });
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
      if (master().executor().Get(order)->description.text().find(victim.name().ToString()) != std::string::npos)
        return true;
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

// HBASE-29190: a region that no server can open blocked DisableTable.
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
  EXPECT_EQ(master().logic().tables.Get(TableName("default", "t"))->state, TableState::kDisabled);
  EXPECT_EQ(Regions("u").size(), 2U);
}

}  // namespace
}  // namespace ratchet::master
