// S43 (no locks while regions may wait), S48 (schema pinned in the order), S49 (re-added family is new): a table is
// altered while servers die, moves continue and masters change; when the modification has ended, every region is served
// with the new descriptor.
#include <algorithm>
#include <set>

#include "common/base/mutant.h"
#include "master/procedures/table/reopen_table_regions.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

using procedure::PauseScope;

class AlterTest : public MasterTest {
 protected:
  static SchemaChange Family(ChangeKind kind, const std::string& family, const std::string& table = "t") {
    SchemaChange change;
    change.kind = kind;
    change.asked.name = TableName("default", table);
    change.asked.families.push_back(DefaultFamily(family));
    return change;
  }
  Result<ProcId> Alter(const SchemaChange& change, bool reopen = true, procedure::Nonce nonce = {}) {
    return master().Ask([&](Done done) { admin().ModifyTable(change, reopen, {"me", nonce}, done); });
  }
  Result<ProcId> AddFamily(const std::string& family) { return Alter(Family(ChangeKind::kAddFamily, family)); }
  TableNode Table(const std::string& table = "t") { return *master().logic().tables.Get(TableName("default", table)); }
  bool Has(const std::string& family, const std::string& table = "t") {
    return Table(table).schema->Family(family) != nullptr;
  }
  bool Unfinished(const char* type) { return !master().executor().FindUnfinished(type).empty(); }
  // Number of regions that are open on some server with another descriptor than the newest.
  std::size_t ServedOld(const std::string& table = "t") {
    std::size_t old = 0;
    for (sim::SimServer* server : cluster_.Alive()) {
      for (const RegionNode& node : Regions(table)) {
        const auto open = server->regions().find(node.encoded);
        if (!server->fenced() && open != server->regions().end() &&
            open->second.schema_number != Table(table).schema_number)
          ++old;
      }
    }
    return old;
  }
  void PauseAll(const PauseScope& scope) {
    bool paused = false;
    master().executor().Pause(scope, {"op", "test"}, Millis(0), [&](const auto& report) { paused = report.ok(); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return paused; }));
  }
  void ResumeAll(const PauseScope& scope) {
    bool resumed = false;
    master().executor().Resume(scope, {"op", "test"}, [&](const Status& status) { resumed = status.ok(); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return resumed; }));
  }
  // Checks that all work has ended, and that the table is served with its newest descriptor. Empty: correct.
  std::string Served(const Result<ProcId>& altered) {
    if (!cluster_.Settle(Millis(60'000))) return "not at rest:\n" + master().Unfinished();
    if (Outcome(altered) != "success") return Outcome(altered);
    if (ServedOld() > 0) return "regions are served with an older descriptor";
    return cluster_.CheckSettled();
  }

  // An order to open a region is carried out, and its answer is late; a newer descriptor comes, and the next master
  // sends the order again. (No modification gets its lock while the region's lock is held, so the test writes the
  // descriptor itself.) Empty: hbase:meta names the descriptor with which the region is served.
  std::string ADescriptorComesBetweenTwoSendings() {
    cluster_.Boot(2);
    GivenTable("t", 1);
    const std::string region = Encoded("t");
    const TableNode before = Table();
    sim::SimServer& other = OtherThan(HostOf(region));
    other.hold_reports = 1;
    (void)Move(region, other.name());
    if (!cluster_.RunUntil([&] { return other.IsOpen(region); })) return "not opened";
    auto& stored = cluster_.storage().tables.at(before.directory).descriptors;
    stored[before.schema_number + 1] = *before.schema;
    stored[before.schema_number + 1].families.push_back(DefaultFamily("g"));
    cluster_.StartMaster();
    (void)cluster_.RunFor(Millis(500));
    if (Table().schema_number != before.schema_number + 1) return "the newer descriptor is not read";
    other.hold_reports = 0;
    other.ReleaseReports();
    if (!cluster_.Settle()) return "not at rest";
    if (other.Served(region) == nullptr || other.Served(region)->schema_number != before.schema_number)
      return "opened anew";
    return cluster_.CheckSettled();
  }
  // An order is sent again to a server that has not had it before: it opens with the descriptor that the order names.
  std::string AnOrderIsSentForTheFirstTimeAfterADescriptorCame() {
    cluster_.Boot(3);
    GivenTable("t", 1);
    const std::string region = Encoded("t");
    const TableNode before = Table();
    sim::SimServer* free = nullptr;  // without the region and without hbase:meta
    for (sim::SimServer* server : cluster_.Alive()) {
      if (server != &HostOf(region) && server != &MetaHost()) free = server;
    }
    sim::SimServer& other = *free;
    (void)Move(region, other.name());
    other.cut_off = true;  // not from ZooKeeper
    if (!cluster_.RunUntil([&] { return Unfinished("OpenRegion"); })) return "no order";
    auto& stored = cluster_.storage().tables.at(before.directory).descriptors;
    stored[before.schema_number + 1] = *before.schema;
    cluster_.StartMaster();
    other.cut_off = false;
    if (!cluster_.Settle()) return "not at rest";
    if (other.Served(region) == nullptr) return "opened elsewhere";
    return other.Served(region)->schema_number == before.schema_number ? cluster_.CheckSettled()
                                                                       : "opened with another one";
  }
  // Makes two modifications, of which the first request gets its lock last. Empty: both are made.
  std::string TurnsInReverse() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    PauseAll(PauseScope::Everything());
    const auto first = AddFamily("g");
    if (!first.ok()) return first.error().ToString();
    master().executor().Park(*first, {"op", "to look"}, [](const Status&) {});
    (void)cluster_.RunFor(Millis(100));
    ResumeAll(PauseScope::Everything());
    const auto second = AddFamily("h");
    if (!cluster_.RunUntil([&] { return second.ok() && master().executor().GetResult(*second).finished(); }))
      return "the second does not end:\n" + master().Unfinished();
    master().executor().Unpark(*first, {"op", "seen"}, [](const Status&) {});
    if (const std::string wrong = Served(first); !wrong.empty()) return wrong;
    if (!Has("g") || !Has("h")) return "a change is lost";
    cluster_.StartMaster();
    if (!cluster_.Settle()) return "not at rest";
    return Has("g") && Has("h") ? "" : "a change is lost on storage";
  }
  // A region that no server opens for a while, because its server has died; then the table is altered, and the server
  // with hbase:meta and a region of the table dies while regions are opened again. Empty: the table is served.
  std::string AServerWithMetaDiesWhileRegionsReopen() {
    cluster_.Boot(4);
    GivenTable("t", 8);
    const auto without_meta = [&] {
      for (const RegionNode& node : Regions("t")) {
        if (node.location && node.location != MetaHost().name()) return node.encoded;
      }
      return std::string();
    };
    const std::string stuck = without_meta();
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 1'000'000;
    cluster_.Kill(HostOf(stuck));
    const auto refused = [&] { return master().logic().regions.Get(stuck)->failed_opens > 4; };
    if (!cluster_.RunUntil(refused)) return "nothing is refused";
    const auto altered = AddFamily("g");
    if (!cluster_.RunUntil([&] { return Unfinished("ReopenTableRegions"); }))
      return "no reopening: " + master().Unfinished();
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_opens = 0;
    cluster_.Kill(MetaHost());
    return Served(altered);
  }
};

TEST_F(AlterTest, EveryRegionIsServedWithTheNewDescriptor) {
  cluster_.Boot(3);
  GivenTable("t", 9);
  GivenTable("u", 2);
  const std::uint64_t before = Table().schema_number;
  EXPECT_EQ(Served(AddFamily("g")), "");
  EXPECT_TRUE(Has("g"));
  EXPECT_GT(Table().schema_number, before);
  EXPECT_FALSE(Has("g", "u"));
  EXPECT_EQ(ServedOld("u"), 0U);
  ExpectServed("t", 9);
  EXPECT_EQ(Served(Alter(Family(ChangeKind::kDeleteFamily, "g"))), "");
  EXPECT_FALSE(Has("g"));
  // The next master finds the same, in hbase:meta too.
  cluster_.StartMaster();
  ExpectSettled();
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.schema_number, Table().schema_number);
}

// S49 (re-added family is new). Empty: a family that was added again is distinguished from the dropped one, and the
// others are unchanged.
std::string TellsFamiliesApart() {
  TableDescriptor table;
  table.name = TableName("default", "t");
  for (const char* family : {"f", "g"}) table.families.push_back(DefaultFamily(family));
  const auto with = [&](std::initializer_list<const char*> families, std::uint64_t by) {
    TableDescriptor changed = table;
    changed.families.clear();
    for (const char* family : families) changed.families.push_back(DefaultFamily(family));
    changed.families.front().added_by = 99;  // the client's value is ignored
    SetFamilyIds(table, ProcId(by), changed);
    table = changed;
  };
  const auto id = [&](const char* family) { return table.Family(family)->added_by; };
  with({"f", "g", "h"}, 10);
  if (id("f") != 0 || id("g") != 0 || id("h") != 0) return "a family that is new has an earlier one of its name";
  with({"f", "h"}, 11);
  with({"f", "h", "i"}, 12);
  with({"f", "g", "h", "i"}, 13);
  if (id("g") != 13 || id("f") != 0 || id("h") != 0) return "g is treated as the earlier one";
  with({"f", "g"}, 14);
  if (id("g") != 13) return "g has changed, although it was there";
  with({"f"}, 15);
  with({"f", "g"}, 16);
  return id("g") == 16 ? "" : "g is treated as the second one";
}

TEST_F(AlterTest, ReaddedFamilyIsANewFamily) { EXPECT_EQ(TellsFamiliesApart(), ""); }

TEST_F(AlterTest, TreatingAReaddedFamilyAsTheSameIsNoticed) {
  ExpectKilled(
      "master.same_family", [&] { return TellsFamiliesApart(); }, "g is treated as the earlier one");
}

TEST_F(AlterTest, ADescriptorOnStorageTellsThemApart) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  (void)AddFamily("g");
  ExpectSettled();
  (void)Alter(Family(ChangeKind::kDeleteFamily, "g"));
  ExpectSettled();
  const auto back = AddFamily("g");
  ExpectSettled();
  cluster_.StartMaster();
  ExpectSettled();
  EXPECT_EQ(Table().schema->Family("g")->added_by, back->value());
  EXPECT_EQ(Table().schema->Family("f")->added_by, 0U);
}

TEST_F(AlterTest, ADisabledTableIsNotOpened) {
  cluster_.Boot(2);
  GivenTable("t", 3);
  (void)Disable("t");
  ExpectSettled();
  const auto altered = AddFamily("g");
  ExpectSettled();
  EXPECT_EQ(Outcome(altered), "success");
  for (const RegionNode& node : Regions("t")) EXPECT_EQ(node.state, RegionState::kClosed);
  (void)Enable("t");
  ExpectServed("t", 3);
  EXPECT_EQ(ServedOld(), 0U);
}

TEST_F(AlterTest, WithoutReopenRegionsApplyTheChangeAtTheirNextOpening) {
  cluster_.Boot(2);
  GivenTable("t", 3);
  const auto altered = Alter(Family(ChangeKind::kAddFamily, "g"), false);
  ExpectSettled();
  EXPECT_EQ(Outcome(altered), "success");
  EXPECT_EQ(ServedOld(), 3U);
  (void)Move(Encoded("t"));
  ExpectSettled();
  EXPECT_EQ(ServedOld(), 2U);
}

TEST_F(AlterTest, WhatCannotBeIsRefusedWithHBasesClass) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const auto refused = [this](const SchemaChange& change) {
    const auto pid = Alter(change);
    return pid.ok() ? std::string("taken") : pid.error().remote_class() + ": " + pid.error().message();
  };
  const std::string family = "org.apache.hadoop.hbase.InvalidFamilyOperationException: ";
  EXPECT_EQ(refused(Family(ChangeKind::kAddFamily, "f")),
            family + "Column family 'f' in table 't' already exists so cannot be added");
  EXPECT_EQ(refused(Family(ChangeKind::kModifyFamily, "x")),
            family + "Family 'x' does not exist, so it cannot be modified");
  EXPECT_EQ(refused(Family(ChangeKind::kDeleteFamily, "x")),
            family + "Family 'x' does not exist, so it cannot be deleted");
  EXPECT_EQ(refused(Family(ChangeKind::kDeleteFamily, "f")),
            family + "Family 'f' is the only column family in the table, so it cannot be deleted");
  EXPECT_NE(refused(Family(ChangeKind::kAddFamily, "g", "missing")).find("TableNotFoundException"), std::string::npos);
  SchemaChange wrong = Family(ChangeKind::kModifyFamily, "f");
  wrong.asked.families[0].attributes["VERSIONS"] = "many";
  EXPECT_NE(refused(wrong).find("VERSIONS"), std::string::npos) << refused(wrong);
  SchemaChange none = Family(ChangeKind::kWhole, "f");
  none.asked.families.clear();
  EXPECT_NE(refused(none).find("at least one column family"), std::string::npos);
  EXPECT_EQ(Table().schema->families.size(), 1U);
}

// The next master cannot read the descriptor above which the number of the new one was chosen.
TEST_F(AlterTest, AMasterThatCannotReadTheDescriptorLosesNoChange) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  PauseAll(PauseScope::Everything());
  const auto altered = AddFamily("g");
  ASSERT_TRUE(altered.ok());
  master().executor().Resume(PauseScope::Everything(), {"op", "test"}, [](const Status&) {});
  const auto begun = [&] {
    const auto info = master().executor().Get(*altered);
    return info && info->step_name != "PREPARE";
  };
  ASSERT_TRUE(cluster_.RunUntil(begun));
  auto& files = cluster_.storage().tables.at(Table().directory);
  files.descriptor_damaged = true;
  cluster_.StartMaster();
  (void)cluster_.RunFor(Millis(500));
  files.descriptor_damaged = false;
  EXPECT_EQ(Served(altered), "");
  cluster_.StartMaster();
  ExpectSettled();
  EXPECT_TRUE(Has("g"));
}

TEST_F(AlterTest, TheSameNonceIsOneModification) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  const auto first = Alter(Family(ChangeKind::kAddFamily, "g"), true, {1, 2});
  ExpectSettled();
  const auto again = Alter(Family(ChangeKind::kAddFamily, "g"), true, {1, 2});
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(*again, *first);
}

TEST_F(AlterTest, AServerDiesBetweenDescriptorAndReopening) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  const auto altered = AddFamily("g");
  ASSERT_TRUE(cluster_.RunUntil([&] { return Has("g"); }));
  cluster_.Kill(HostOf(Encoded("t")));
  EXPECT_EQ(Served(altered), "");
  ExpectServed("t", 6);
}

TEST_F(AlterTest, ADescriptorThatComesBetweenTwoSendings) { EXPECT_EQ(ADescriptorComesBetweenTwoSendings(), ""); }

TEST_F(AlterTest, AnOrderThatIsSentLate) { EXPECT_EQ(AnOrderIsSentForTheFirstTimeAfterADescriptorCame(), ""); }

TEST_F(AlterTest, BelievingInTheLastSendingIsNoticed) {
  ExpectKilled(
      "master.unpinned_schema", [&] { return ADescriptorComesBetweenTwoSendings(); }, "is served with descriptor");
}

TEST_F(AlterTest, TakingTheSchemaOfTheSendingIsNoticed) {
  ExpectKilled(
      "master.unpinned_schema", [&] { return AnOrderIsSentForTheFirstTimeAfterADescriptorCame(); },
      "opened with another one");
}

TEST_F(AlterTest, LockGrantsDecideNotPids) { EXPECT_EQ(TurnsInReverse(), ""); }

TEST_F(AlterTest, NumbersFromPidsAreNoticed) {
  ExpectKilled(
      "master.descriptor_by_submission", [&] { return TurnsInReverse(); }, "a change is lost");
}

TEST_F(AlterTest, NoLockIsHeldWhileRegionsReopen) { EXPECT_EQ(AServerWithMetaDiesWhileRegionsReopen(), ""); }

// The modification waits for the table's lock, which the assignment of the stuck region keeps.
TEST_F(AlterTest, KeepingTheLockIsNoticed) {
  ExpectKilled(
      "procedure.ignore_lock_column", [&] { return AServerWithMetaDiesWhileRegionsReopen(); }, "no reopening");
}

// A descriptor that was read before a modification, and is put into the in-memory state after it.
TEST_F(AlterTest, AnOlderDescriptorReplacesNoNewerOne) {
  TableDirectory tables;
  TableNode node;
  node.name = TableName("default", "t");
  node.directory = "default/t.7";
  node.schema_number = 9;
  node.schema = std::make_shared<const TableDescriptor>(Descriptor("t"));
  tables.Put(node);
  const auto late = std::make_shared<const TableDescriptor>();
  const auto newest = [&] { return tables.Get(node.name)->schema_number; };
  tables.SetSchema(node.name, node.directory, late, 8);
  EXPECT_EQ(newest(), 9U);
  TableNode copy = node;
  copy.schema_number = 8;
  copy.schema = late;
  tables.Put(copy);
  EXPECT_EQ(newest(), 9U);
  tables.SetSchema(node.name, node.directory, late, 10);
  EXPECT_EQ(newest(), 10U);
  const ScopedMutant mutant("master.schema_goes_back");
  tables.SetSchema(node.name, node.directory, late, 8);
  EXPECT_EQ(newest(), 8U) << "the mutant is noticed";
}

TEST_F(AlterTest, BatchesDouble) {
  cluster_.Boot(3);
  cluster_.master_options.reopen_batch_most = 4;
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  GivenTable("t", 12);
  const auto altered = AddFamily("g");
  std::size_t most = 0;
  std::set<std::size_t> seen;
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const std::size_t now = master().executor().FindUnfinished("TransitRegionState").size();
    most = std::max(most, now);
    if (most > 0) seen.insert(most);
    return altered.ok() && master().executor().GetResult(*altered).finished();
  }));
  EXPECT_EQ(Served(altered), "");
  EXPECT_EQ(seen, (std::set<std::size_t>{1, 2, 4})) << "one, two, four, and no more than four at a time";
}

}  // namespace
}  // namespace ratchet::master
