// S115 (missing row is not evidence): a table's directory goes to the archive only if a mark in it allows that.
#include <algorithm>

#include "common/base/mutant.h"
#include "master/procedures/table/delete_table.h"
#include "master/storage/drop_marks.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class DroppedMarkTest : public MasterTest {
 protected:
  void Compare(int times) {
    for (int time = 0; time < times; ++time) {
      (void)cluster_.RunFor(Millis(1'100));
      master().logic().reconciler.Sweep();
      if (master().ready()) master().logic().reconciler.CompareWithMeta([](const Status&) {});
    }
    (void)cluster_.RunFor(Millis(1'100));
  }
  bool Shows(const std::string& part) {
    const auto problems = master().logic().reconciler.Problems();
    return std::any_of(problems.begin(), problems.end(),
                       [&part](const std::string& problem) { return problem.find(part) != std::string::npos; });
  }
  [[nodiscard]] std::string DirectoryOf(const std::string& table) {
    return master().logic().tables.Get(TableName("default", table))->directory;
  }
  [[nodiscard]] bool Exists(const std::string& directory) { return cluster_.storage().tables.contains(directory); }
  // Removes the rows, as if hbase:meta had been restored from a copy from before the creation of the table.
  void LoseRowsOf(const std::string& table) {
    const TableName name("default", table);
    cluster_.meta().mutable_tables().erase(name);
    std::erase_if(cluster_.meta().mutable_regions(),
                  [&name](const auto& row) { return row.second.region.table == name; });
  }
  // The next master finds an hbase:meta without table t.
  void StartWithAnOlderMeta() {
    cluster_.KillMaster();
    LoseRowsOf("t");
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.RunUntil([this] { return master().ready(); })) << master().Unfinished();
    Compare(4);
  }
  // Returns an error if table t's directory has moved after that; empty: it has not.
  std::string AnOlderMeta() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    GivenTable("u", 1);
    const std::string directory = DirectoryOf("t");
    StartWithAnOlderMeta();
    if (!Exists(directory)) return "it is gone";
    return cluster_.storage().archived.contains(directory) ? "it is in the archive" : "";
  }
};

TEST_F(DroppedMarkTest, ATableWithoutARowStaysAndIsShown) {
  EXPECT_EQ(AnOlderMeta(), "");
  EXPECT_TRUE(Shows("no row of hbase:meta names data/default/t."));
  EXPECT_TRUE(cluster_.storage().violations.empty());
}

TEST_F(DroppedMarkTest, AnEmptyMetaChangesNothing) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string directory = DirectoryOf("t");
  StartWithAnOlderMeta();
  EXPECT_TRUE(Exists(directory));
  EXPECT_TRUE(Shows("hbase:meta names no table, but data/default/t."));
}

// Memory still has the table: no state is forgotten and no row is removed.
TEST_F(DroppedMarkTest, AMetaThatIsEmptiedUnderAMasterChangesNothing) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string directory = DirectoryOf("t");
  const auto tables = cluster_.meta().tables();
  const auto regions = cluster_.meta().regions();
  LoseRowsOf("t");
  Compare(4);
  EXPECT_TRUE(Exists(directory));
  EXPECT_TRUE(Shows("hbase:meta names no table"));
  cluster_.meta().mutable_tables() = tables;
  cluster_.meta().mutable_regions() = regions;
  Compare(3);
  EXPECT_FALSE(Shows("hbase:meta names no table"));
  ExpectServed("t", 2);
}

TEST_F(DroppedMarkTest, TheProblemEndsWhenTheRowIsBack) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  GivenTable("u", 1);
  const auto tables = cluster_.meta().tables();
  const auto regions = cluster_.meta().regions();
  StartWithAnOlderMeta();
  ASSERT_TRUE(Shows("no row of hbase:meta names"));
  cluster_.KillMaster();
  cluster_.meta().mutable_tables() = tables;
  cluster_.meta().mutable_regions() = regions;
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  Compare(3);
  EXPECT_FALSE(Shows("no row of hbase:meta names"));
  ExpectServed("t", 2);
}

TEST_F(DroppedMarkTest, ATableThatIsDroppedGoesToTheArchive) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string directory = DirectoryOf("t");
  (void)Disable("t");
  ASSERT_TRUE(cluster_.Settle());
  const auto dropped = Delete("t");
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_EQ(Outcome(dropped), "success");
  EXPECT_TRUE(cluster_.storage().archived.contains(directory));
  EXPECT_TRUE(cluster_.storage().violations.empty());
}

// The mark precedes the first row that is removed, so the comparison finishes a DeleteTable that is ended in between.
TEST_F(DroppedMarkTest, ADeletionThatIsBypassedAfterItsRowsLeavesNothing) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  const std::string directory = DirectoryOf("t");
  (void)Disable("t");
  ASSERT_TRUE(cluster_.Settle());
  (void)Delete("t");
  ASSERT_TRUE(cluster_.RunUntil([this] { return cluster_.meta().tables().empty(); }));
  ASSERT_TRUE(Exists(directory));
  BypassTheOnly("DeleteTable");
  Compare(4);
  EXPECT_FALSE(Exists(directory));
}

// An operator ended a DeleteTable after it wrote its mark and before it removed rows, and the table continues to exist.
TEST_F(DroppedMarkTest, AMarkIsOverruledWhenTheTableIsEnabled) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  GivenTable("u", 1);
  const std::string directory = DirectoryOf("t");
  (void)Disable("t");
  ASSERT_TRUE(cluster_.Settle());
  std::vector<std::string>& marks = cluster_.storage().tables[directory].marks;
  marks.push_back(DroppedName(1'000'000));
  ASSERT_TRUE(DropMarksIn(marks).may_go());
  const auto enabled = Enable("t");
  ASSERT_TRUE(cluster_.Settle());
  ASSERT_EQ(Outcome(enabled), "success");
  EXPECT_FALSE(DropMarksIn(marks).may_go());
  StartWithAnOlderMeta();
  EXPECT_TRUE(Exists(directory));
}

TEST(DropMarksTest, TheHighestNumberDecides) {
  EXPECT_FALSE(DropMarksIn({}).may_go());
  EXPECT_FALSE(DropMarksIn({"desc.7.7", "0123"}).may_go());
  EXPECT_TRUE(DropMarksIn({"dropped.7"}).may_go());
  EXPECT_TRUE(DropMarksIn({std::string(kDropByHand)}).may_go());
  EXPECT_FALSE(DropMarksIn({"dropped.7", "kept.7"}).may_go()) << "a deposed master makes the same mark again";
  EXPECT_TRUE(DropMarksIn({"dropped.7", "kept.7", "dropped.9"}).may_go());
  EXPECT_FALSE(DropMarksIn({"dropped.x", "dropped.", "dropped.99999999999999999999"}).may_go());
}

TEST(DropMarksTest, ALaterDecisionHasAHigherNumber) {
  EXPECT_EQ(NameToDrop(DropMarksIn({"kept.12"}), 9), "dropped.13") << "pids rise with submissions, not with turns";
  EXPECT_EQ(NameToDrop(DropMarksIn({"dropped.12"}), 9), std::nullopt);
  EXPECT_EQ(NameToKeep(DropMarksIn({"dropped.12"}), 9), "kept.12");
  EXPECT_EQ(NameToKeep(DropMarksIn({}), 9), "kept.9") << "a mark of this pid may come late";
  EXPECT_EQ(NameToKeep(DropMarksIn({}), 0), std::nullopt);
  EXPECT_EQ(NameToKeep(DropMarksIn({"dropped.5", "kept.5"}), 0), std::nullopt);
}

#if defined(RATCHET_MUTANTS)
TEST_F(DroppedMarkTest, LettingRowsDecideIsNoticed) {
  ExpectKilled(
      "reconciler.rows_decide", [this] { return AnOlderMeta(); }, "it is");
}
#endif

}  // namespace
}  // namespace ratchet::master
