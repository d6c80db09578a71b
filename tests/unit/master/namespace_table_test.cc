// hbase:namespace follows the master's record of the namespaces.
#include "master/chores/namespace_table.h"

#include <map>
#include <memory>
#include <string>

#include "common/model/namespace_descriptor.h"
#include "master/cluster/table_directory.h"
#include "master/requests/namespace_admin.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class FakeCells final : public SystemTable {
 public:
  void Read(const SystemCell& cell, std::function<void(Result<Value>)> done) override { done(Stored(cell.row)); }
  void Swap(const SystemCell& cell, Value before, Value after, std::function<void(Result<bool>)> done) override {
    EXPECT_EQ(cell.qualifier, "d");
    if (fails) return done(Error(Code::kUnavailable, "no region"));
    ++swaps;
    if (Stored(cell.row) != before) return done(false);
    rows.erase(cell.row);
    if (after) rows[cell.row] = *after;
    done(true);
  }
  void ReadAll(std::size_t /*most*/, std::function<void(Result<std::vector<SystemCell>>)> done) override {
    ++looks;
    std::vector<SystemCell> all;
    for (const auto& [row, value] : rows) all.push_back({row, "d", value});
    done(std::move(all));
  }
  [[nodiscard]] Value Stored(const std::string& row) const {
    const auto found = rows.find(row);
    return found == rows.end() ? Value() : Value(found->second);
  }
  std::map<std::string, std::string> rows;
  int looks = 0;
  int swaps = 0;
  bool fails = false;
};

class NamespaceTableTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.Boot(2);
    UseTable();
  }
  void UseTable() {
    master().logic().env.namespace_table = &cells_;
    keeper_ = std::make_unique<NamespaceTable>(master().logic().env);
  }
  void Tick() {
    keeper_->Tick();
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
  NamespaceAdmin& admin_of() { return master().logic().namespace_admin; }
  void Make(const std::string& name, const Attributes& properties = {}) {
    const auto pid = master().Ask([&](Done done) { admin_of().Create({name, properties}, {"me", {}}, done); });
    ASSERT_TRUE(cluster_.Settle());
    ASSERT_EQ(Outcome(pid), "success");
  }
  void ExpectRow(const std::string& name, const Attributes& properties) {
    const auto stored = cells_.Stored(name);
    ASSERT_TRUE(stored.has_value()) << name;
    const auto read = DecodeNamespace(*stored);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, (NamespaceDescriptor{name, properties}));
  }
  bool HasTable() { return cluster_.meta().tables().contains(NamespaceTableName()); }

  FakeCells cells_;
  std::unique_ptr<NamespaceTable> keeper_;
};

TEST_F(NamespaceTableTest, ComesWithTheFirstNamespaceAndFollowsEachChange) {
  Tick();
  EXPECT_FALSE(HasTable()) << "there is nothing that clients do not know";
  Make("sales", {{"owner", "x"}});
  Tick();
  ASSERT_TRUE(HasTable());
  Tick();
  ExpectRow("default", {});
  ExpectRow("hbase", {});
  ExpectRow("sales", {{"owner", "x"}});
  const auto changed = master().Ask([&](Done done) {
    admin_of().Modify({"sales", {{"owner", "y"}}}, {"me", {}}, done);
  });
  ASSERT_TRUE(cluster_.Settle());
  ASSERT_EQ(Outcome(changed), "success");
  Tick();
  ExpectRow("sales", {{"owner", "y"}});
  (void)master().Ask([&](Done done) { admin_of().Delete("sales", {"me", {}}, done); });
  ASSERT_TRUE(cluster_.Settle());
  Tick();
  EXPECT_FALSE(cells_.Stored("sales").has_value());
  EXPECT_EQ(cells_.rows.size(), 2U);
}

TEST_F(NamespaceTableTest, IsNotReadAgainWhileNothingChanges) {
  Make("sales");
  for (int i = 0; i < 3; ++i) Tick();
  const int looks = cells_.looks;
  const int swaps = cells_.swaps;
  ASSERT_GT(looks, 0);
  for (int i = 0; i < 5; ++i) Tick();
  EXPECT_EQ(cells_.looks, looks);
  EXPECT_EQ(cells_.swaps, swaps);
}

TEST_F(NamespaceTableTest, ForeignWritesAreCorrected) {
  Make("sales");
  for (int i = 0; i < 3; ++i) Tick();
  cells_.rows["sales"] = "garbage";
  cells_.rows["ghost"] = "garbage";
  ASSERT_TRUE(cluster_.RunFor(NamespaceTable::kLookAgain + Millis(1)));
  Tick();
  ExpectRow("sales", {});
  EXPECT_FALSE(cells_.Stored("ghost").has_value());
}

TEST_F(NamespaceTableTest, AWriteThatFailsIsTriedAgainAlsoByTheNextMaster) {
  cells_.fails = true;
  Make("sales");
  for (int i = 0; i < 3; ++i) Tick();
  EXPECT_TRUE(cells_.rows.empty());
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  UseTable();
  cells_.fails = false;
  for (int i = 0; i < 2; ++i) Tick();
  ExpectRow("sales", {});
}

}  // namespace
}  // namespace ratchet::master
