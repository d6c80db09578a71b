// Namespaces: created, changed, deleted, refused; their limits.
#include "common/base/mutant.h"
#include "common/model/namespace_descriptor.h"
#include "master/cluster/namespace_directory.h"
#include "master/requests/namespace_admin.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {
namespace {

TEST(NamespaceDescriptorTest, LimitsAndNamesAreChecked) {
  NamespaceDescriptor descriptor{"sales", {{"owner", "x"}}};
  EXPECT_TRUE(descriptor.Check().ok());
  EXPECT_EQ(descriptor.max_tables(), std::nullopt);
  descriptor.properties[std::string(kMaxTablesProperty)] = "3";
  descriptor.properties[std::string(kMaxRegionsProperty)] = "18446744073709551615";
  EXPECT_TRUE(descriptor.Check().ok());
  EXPECT_EQ(descriptor.max_tables(), 3U);
  EXPECT_EQ(DecodeNamespace(EncodeNamespace(descriptor)).value(), descriptor);
  for (const char* bad : {"0", "-1", "", "many", "3 ", "18446744073709551616", "1e3"}) {
    descriptor.properties[std::string(kMaxRegionsProperty)] = bad;
    const Status checked = descriptor.Check();
    ASSERT_FALSE(checked.ok()) << bad;
    EXPECT_NE(checked.error().message().find(kMaxRegionsProperty), std::string::npos) << checked.error().message();
    EXPECT_EQ(descriptor.max_regions().value_or(0), 0U) << bad;
  }
  for (const char* bad : {"", "a-b", "a:b", "a/b", "..", "ä"})
    EXPECT_FALSE(NamespaceDescriptor({bad, {}}).Check().ok());
  EXPECT_FALSE(NamespaceDescriptor({"n", {{"k", std::string(kMaxNamespaceBytes, 'x')}}}).Check().ok());
  EXPECT_FALSE(DecodeNamespace("no message").ok());
}

class NamespaceTest : public ReshapeTest {
 protected:
  NamespaceAdmin& namespaces() { return master().logic().namespace_admin; }
  Result<ProcId> CreateIn(const std::string& ns, const std::string& name, int regions = 1) {
    return master().Ask([&](Done done) {
      TableDescriptor descriptor = Descriptor(name);
      descriptor.name.ns = ns;
      admin().CreateTable(descriptor, Splits(regions), {"me", {}}, done);
    });
  }
  std::string Ended(const Result<ProcId>& pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return Outcome(pid);
  }
  std::string Make(const std::string& name, Attributes properties = {}) {
    return Ended(master().Ask([&](Done done) { namespaces().Create({name, properties}, {"me", {}}, done); }));
  }
  std::string Change(const std::string& name, Attributes properties) {
    return Ended(master().Ask([&](Done done) { namespaces().Modify({name, properties}, {"me", {}}, done); }));
  }
  std::string Drop(const std::string& name) {
    return Ended(master().Ask([&](Done done) { namespaces().Delete(name, {"me", {}}, done); }));
  }
  std::string DropTable(const std::string& ns, const std::string& name) {
    const auto disabled = Ended(master().Ask([&](Done done) { admin().DisableTable({ns, name}, {"me", {}}, done); }));
    if (disabled != "success") return disabled;
    return Ended(master().Ask([&](Done done) { admin().DeleteTable({ns, name}, {"me", {}}, done); }));
  }
  std::optional<NamespaceDescriptor> Known(const std::string& name) { return master().logic().namespaces.Get(name); }
  void FailOver() {
    cluster_.KillMaster();
    cluster_.StartMaster();
    ExpectSettled();
  }
  static Attributes Tables(const std::string& most) { return {{std::string(kMaxTablesProperty), most}}; }
  static Attributes MaxRegions(const std::string& most) { return {{std::string(kMaxRegionsProperty), most}}; }
  // Returns how many of two tables that are created at once exist in the end, where one may exist.
  std::size_t TwoAtOnce() {
    EXPECT_EQ(Make("sales", Tables("1")), "success");
    std::vector<Result<ProcId>> pids;
    for (const char* name : {"a", "b"}) {
      TableDescriptor descriptor = Descriptor(name);
      descriptor.name.ns = "sales";
      admin().CreateTable(descriptor, {}, {"me", {}}, [&pids](Result<ProcId> pid) { pids.push_back(std::move(pid)); });
    }
    EXPECT_TRUE(cluster_.RunUntil([&] { return pids.size() == 2; }));
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return master().logic().env.namespaces.TablesIn("sales");
  }
};

bool Says(const std::string& outcome, const char* text) { return outcome.find(text) != std::string::npos; }

TEST_F(NamespaceTest, NamespacesAreCreatedChangedAndRemoved) {
  cluster_.Boot(2);
  EXPECT_TRUE(Known("default") && Known("hbase"));
  EXPECT_TRUE(Says(Ended(CreateIn("sales", "t")), "namespace sales does not exist"));
  EXPECT_EQ(Make("sales", {{"owner", "x"}}), "success");
  EXPECT_TRUE(Says(Make("sales"), "exists"));
  EXPECT_TRUE(Says(Make("default"), "exists"));
  EXPECT_EQ(Ended(CreateIn("sales", "t")), "success");
  EXPECT_TRUE(Says(Drop("sales"), "has 1 tables"));
  EXPECT_EQ(Change("sales", {{"owner", "y"}}), "success");
  FailOver();
  EXPECT_EQ(Known("sales"), (NamespaceDescriptor{"sales", {{"owner", "y"}}}));
  EXPECT_EQ(DropTable("sales", "t"), "success");
  EXPECT_EQ(Drop("sales"), "success");
  EXPECT_TRUE(Says(Drop("sales"), "does not exist"));
  EXPECT_TRUE(Says(Change("sales", {}), "does not exist"));
  FailOver();
  EXPECT_EQ(Known("sales"), std::nullopt);
  EXPECT_TRUE(Says(Drop("hbase"), "cannot be deleted"));
  EXPECT_TRUE(Says(Drop("default"), "cannot be deleted"));
  EXPECT_EQ(Change("default", Tables("2")), "success");
  EXPECT_TRUE(Says(Change("default", Tables("none")), "whole number"));
  EXPECT_EQ(master().logic().namespaces.List().size(), 2U);
}

// Version 0.1 made tables in any namespace.
TEST_F(NamespaceTest, UnrecordedNamespaceExistsWhileItHasTables) {
  cluster_.Boot(2);
  EXPECT_EQ(Make("old"), "success");
  EXPECT_EQ(Ended(CreateIn("old", "t")), "success");
  master().logic().env.namespaces.Remove("old");  // as if it had never been recorded
  EXPECT_TRUE(master().logic().env.namespaces.Exists("old"));
  EXPECT_EQ(Ended(CreateIn("old", "u")), "success");
  EXPECT_TRUE(Says(Make("old"), "exists"));
  EXPECT_EQ(Change("old", Tables("2")), "success") << "it is recorded now";
  EXPECT_TRUE(Says(Ended(CreateIn("old", "v")), "has a limit of 2 tables"));
}

TEST_F(NamespaceTest, TablesAreLimited) {
  cluster_.Boot(2);
  EXPECT_EQ(Make("sales", Tables("2")), "success");
  EXPECT_EQ(Ended(CreateIn("sales", "a")), "success");
  EXPECT_EQ(Ended(CreateIn("sales", "b")), "success");
  const auto third = CreateIn("sales", "c");
  const std::string outcome = Ended(third);
  EXPECT_TRUE(Says(outcome, "namespace sales has a limit of 2 tables, and has 2")) << outcome;
  EXPECT_EQ(master().executor().GetResult(*third).error->remote_class(),
            "org.apache.hadoop.hbase.quotas.QuotaExceededException");
  EXPECT_EQ(DropTable("sales", "a"), "success");
  EXPECT_EQ(Ended(CreateIn("sales", "c")), "success");
  EXPECT_EQ(Change("sales", {}), "success");
  EXPECT_EQ(Ended(CreateIn("sales", "d")), "success");
  EXPECT_EQ(Change("sales", Tables("1")), "success") << "what is there stays";
  EXPECT_EQ(master().logic().env.namespaces.TablesIn("sales"), 3U);
  EXPECT_TRUE(Says(Ended(CreateIn("sales", "e")), "has a limit of 1 tables"));
}

TEST_F(NamespaceTest, RegionLimitAppliesToSplits) {
  cluster_.Boot(2);
  EXPECT_EQ(Change("default", MaxRegions("4")), "success");
  EXPECT_TRUE(Says(Ended(Create("t", 5)), "has a limit of 4 regions"));
  GivenTable("t", 3);
  const auto one = Split(Encoded("t"), "a5");
  const auto two = Split(Encoded("t", 1), "b5");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ((Outcome(one) == "success" ? 1 : 0) + (Outcome(two) == "success" ? 1 : 0), 1)
      << Outcome(one) << "; " << Outcome(two);
  ExpectLive(4);
  EXPECT_TRUE(Says(Ended(Create("u", 1)), "has a limit of 4 regions"));
  ASSERT_TRUE(Merge({Live()[0].encoded, Live()[1].encoded}).ok());
  ExpectLive(3);
  EXPECT_EQ(Ended(Create("u", 1)), "success");
}

TEST_F(NamespaceTest, ConcurrentRequestsDoNotExceedTheLimit) {
  cluster_.Boot(2);
  EXPECT_EQ(TwoAtOnce(), 1U);
}

TEST_F(NamespaceTest, CountingOnlyExistingTablesIsNoticed) {
  cluster_.Boot(2);
  const ScopedMutant mutant("master.count_without_claims");
  EXPECT_EQ(TwoAtOnce(), 2U) << "each sees the room for one";
}

// The claims of a creation persist under the next master, and end with the creation.
TEST_F(NamespaceTest, ClaimsOutliveTheMasterAndEndWithTheirProcedures) {
  cluster_.Boot(2);
  EXPECT_EQ(Make("sales", Tables("1")), "success");
  const auto pid = CreateIn("sales", "a");
  ASSERT_TRUE(RunTo("CreateTable", "ADD_TO_META"));
  cluster_.KillMaster();
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  EXPECT_GE(master().logic().namespaces.claims(), 1U);
  EXPECT_TRUE(Says(Ended(CreateIn("sales", "b")), "has a limit of 1 tables"));
  EXPECT_EQ(Ended(pid), "success");
  EXPECT_EQ(Change("sales", Tables("5")), "success");
  EXPECT_EQ(Ended(CreateIn("sales", "b")), "success");
  EXPECT_LE(master().logic().namespaces.claims(), 1U) << "those of procedures that have ended are forgotten";
}

}  // namespace
}  // namespace ratchet::master
