// hbase:acl follows the master's records of the rights, in HBase's form.
#include "master/chores/acl_table.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "master/cluster/rights_book.h"
#include "master/requests/rights_admin.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

using rights::Action;
using rights::Actions;
using rights::Scope;

class FakeAcl final : public SystemTable {
 public:
  void Read(const SystemCell& cell, std::function<void(Result<Value>)> done) override { done(Stored(cell)); }
  void Swap(const SystemCell& cell, Value before, Value after, std::function<void(Result<bool>)> done) override {
    if (Stored(cell) != before) return done(false);
    cells.erase({cell.row, cell.qualifier});
    if (after) cells[{cell.row, cell.qualifier}] = *after;
    done(true);
  }
  void ReadAll(std::size_t /*most*/, std::function<void(Result<std::vector<SystemCell>>)> done) override {
    ++looks;
    std::vector<SystemCell> all;
    for (const auto& [place, value] : cells) all.push_back({place.first, place.second, value});
    done(std::move(all));
  }
  [[nodiscard]] Value Stored(const SystemCell& cell) const {
    const auto found = cells.find({cell.row, cell.qualifier});
    return found == cells.end() ? Value() : Value(found->second);
  }
  std::map<std::pair<std::string, std::string>, std::string> cells;  // (row, qualifier)
  int looks = 0;
};

class AclTableTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.Boot(2);
    keeper_ = std::make_unique<AclTable>(master().logic().env, cells_);
  }
  void Tick() {
    keeper_->Tick();
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
  void Grant(const std::string& user, const Scope& scope, Actions actions) {
    std::optional<Status> done;
    master().logic().rights_admin.Grant({user, scope, actions}, true, {"me", {}},
                                        [&done](const Status& ended) { done = ended; });
    ASSERT_TRUE(cluster_.Settle());
    ASSERT_TRUE(done.has_value() && done->ok());
  }
  bool HasTable() { return cluster_.meta().tables().contains(rights::AclTableName()); }

  FakeAcl cells_;
  std::unique_ptr<AclTable> keeper_;
};

TEST_F(AclTableTest, ComesWithTheFirstRightInHbasesForm) {
  Tick();
  EXPECT_FALSE(HasTable());
  const auto created = Create("t", 1);
  ASSERT_TRUE(cluster_.Settle());
  ASSERT_EQ(Outcome(created), "success");
  const TableName table("default", "t");
  Grant("alice", Scope::Global(), Action::kAdmin | Action::kRead);
  Grant("@ops", Scope::Namespace("default"), Action::kCreate);
  Grant("bob", Scope::Table(table), Actions::All());
  Grant("bob", Scope::Family(table, "f"), Action::kRead);
  Grant("eve", Scope::Column(table, "f", "q"), Action::kWrite);
  for (int i = 0; i < 2; ++i) Tick();
  ASSERT_TRUE(HasTable());
  const decltype(cells_.cells) expected = {{{"hbase:acl", "alice"}, "RA"},
                                           {{"@default", "@ops"}, "C"},
                                           {{"t", "bob"}, "RWXCA"},
                                           {{"t", "bob,f"}, "R"},
                                           {{"t", "eve,f,q"}, "W"}};
  EXPECT_EQ(cells_.cells, expected);
  const int looks = cells_.looks;
  for (int i = 0; i < 3; ++i) Tick();
  EXPECT_EQ(cells_.looks, looks) << "nothing has changed";
}

// A cell of another writer gives no right, because no process reads the table to decide; the master removes it.
TEST_F(AclTableTest, ForeignCellsAreNoRightsAndAreRemoved) {
  Grant("alice", Scope::Global(), Action::kRead);
  for (int i = 0; i < 2; ++i) Tick();
  cells_.cells[{"hbase:acl", "mallory"}] = "RWXCA";
  cells_.cells[{"hbase:acl", "alice"}] = "RWXCA";
  EXPECT_TRUE(master().logic().rights.Get("mallory", Scope::Global()).empty());
  ASSERT_TRUE(cluster_.RunFor(FollowingTable::kLookAgain + Millis(1)));
  Tick();
  const decltype(cells_.cells) expected = {{{"hbase:acl", "alice"}, "R"}};
  EXPECT_EQ(cells_.cells, expected);
}

}  // namespace
}  // namespace ratchet::master
