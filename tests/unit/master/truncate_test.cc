// Truncation: the rows are removed, the table stays, and no part of it is missing at any moment (S40: durable commit
// point; S41: atomic conditional commit).
#include <functional>
#include <set>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/procedures/table/new_table.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class TruncateTest : public MasterTest {
 protected:
  Result<ProcId> Truncate(const std::string& table, bool preserve_splits) {
    return master().Ask([&](Done done) {
      admin().TruncateTable(TableName("default", table), preserve_splits, {"me", {}}, done);
    });
  }
  Result<ProcId> AtRest(Result<ProcId> pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return pid;
  }
  void GivenADisabledTable(int regions) {
    cluster_.Boot(3);
    GivenTable("t", regions);
    cluster_.WriteEverywhere();
    EXPECT_EQ(Outcome(AtRest(Disable("t"))), "success");
    before_ = master().logic().tables.Get(kName)->directory;
  }
  [[nodiscard]] std::string DirectoryInMeta() { return cluster_.meta().tables().at(kName).directory; }
  void ExpectTruncated(std::size_t regions) {
    ExpectSettled();
    const auto table = master().logic().tables.Get(kName);
    ASSERT_TRUE(table.has_value());
    EXPECT_EQ(table->state, TableState::kEnabled);
    EXPECT_NE(table->directory, before_);
    EXPECT_EQ(DirectoryInMeta(), table->directory);
    EXPECT_FALSE(cluster_.storage().tables.contains(before_)) << "the old directory is in the archive";
    EXPECT_EQ(cluster_.meta().regions().size(), regions);
    cluster_.WriteEverywhere();
    ExpectServed("t", regions);
  }

  // At each moment of a truncation hbase:meta has all rows of the old table, or all rows of the new one.
  void ExpectNoPartInMeta() {
    const auto pid = Truncate("t", true);
    std::set<std::string> seen;
    ASSERT_TRUE(cluster_.RunUntil([&] {
      std::set<std::uint64_t> creators;
      for (const auto& [encoded, row] : cluster_.meta().regions()) creators.insert(row.region.region_id);
      EXPECT_EQ(creators.size(), 1U) << "rows of two tables";
      EXPECT_EQ(cluster_.meta().regions().size(), 3U);
      const bool old = DirectoryInMeta() == before_;
      EXPECT_EQ(creators.contains(RegionIdFor(*pid)), !old) << "rows of two tables";
      seen.insert(old ? "old" : "new");
      return master().executor().GetResult(*pid).finished();
    }));
    EXPECT_EQ(seen.size(), 2U);
  }

  // An operator ends a truncation whose commit is applied and not answered yet. Returns the answer.
  std::string BypassInTheCommit() {
    const auto pid = Truncate("t", false);
    EXPECT_TRUE(cluster_.RunUntil([&] { return DirectoryInMeta() != before_; }));
    std::optional<Status> answer;
    master().executor().Bypass(*pid, false, {"op", "stuck"}, [&](const Status& status) { answer = status; });
    EXPECT_TRUE(cluster_.RunUntil([&] { return answer.has_value(); }));
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    EXPECT_EQ(DirectoryInMeta(), master().logic().tables.Get(kName)->directory) << "the table is in two directories";
    return answer->ok() ? std::string("ok") : answer->error().message();
  }

  const TableName kName{"default", "t"};
  std::string before_;
};

TEST_F(TruncateTest, TheNewRegionsHaveTheOldOnesKeys) {
  GivenADisabledTable(3);
  EXPECT_EQ(Outcome(AtRest(Truncate("t", true))), "success");
  ExpectTruncated(3);
}

TEST_F(TruncateTest, WithoutTheKeysThereIsOneRegion) {
  GivenADisabledTable(3);
  EXPECT_EQ(Outcome(AtRest(Truncate("t", false))), "success");
  ExpectTruncated(1);
}

TEST_F(TruncateTest, OnlyADisabledTableIsTruncated) {
  cluster_.Boot(2);
  GivenTable("t", 1);
  EXPECT_FALSE(Truncate("t", true).ok());
  EXPECT_FALSE(Truncate("nosuch", true).ok());
}

// The owner of a region may need the table's lock to end.
TEST_F(TruncateTest, ARegionInTransitionIsWaitedForWithoutTheLock) {
  GivenADisabledTable(2);
  const std::string encoded = Encoded("t", 1);
  const ProcId other(1'000'000);
  ASSERT_TRUE(master().logic().regions.Own(encoded, other));
  const auto pid = Truncate("t", true);
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto info = master().executor().Get(*pid);
    const bool waits = master().Unfinished().find("releases region " + encoded) != std::string::npos;
    return waits && info && info->locks.empty();
  }));
  master().logic().regions.Disown(encoded, other);
  EXPECT_EQ(Outcome(AtRest(pid)), "success");
  ExpectTruncated(2);
}

// The other row has another number than memory: an ended write has arrived after all.
TEST_F(TruncateTest, RowsThatMemoryDoesNotHaveSoGoToo) {
  GivenADisabledTable(3);
  auto& rows = cluster_.meta().mutable_regions();
  rows.at(Encoded("t", 1)).transition += 1;
  rows.erase(Encoded("t", 2));
  RegionRow unknown = rows.at(Encoded("t", 0));
  unknown.region.start_key = "aa";
  rows[unknown.region.encoded_name()] = unknown;
  EXPECT_EQ(Outcome(AtRest(Truncate("t", false))), "success");
  ExpectTruncated(1);
}

// Truncations on a network that loses requests and answers and duplicates requests. Empty: memory and hbase:meta agree
// after each of them.
std::string TruncateOverABadWire() {
  const TableName table("default", "t");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sim::SimOptions options;
    options.seed = seed;
    sim::SimCluster cluster(options);
    cluster.Boot(2);
    sim::SimMaster& master = cluster.master();
    TableDescriptor descriptor;
    descriptor.name = table;
    descriptor.families.push_back(DefaultFamily("f"));
    using Done = TableAdmin::Done;
    TableAdmin& admin = master.logic().admin;
    const auto settled = [&](const std::function<void(Done)>& ask) { return master.Ask(ask).ok() && cluster.Settle(); };
    if (!settled([&](Done done) {
          admin.CreateTable(descriptor, {"m"}, {"me", {}}, std::move(done));
        }) ||
        !settled([&](Done done) {
          admin.DisableTable(table, {"me", {}}, std::move(done));
        })) {
      return "not prepared";
    }
    cluster.options().lost_permille = 300;
    cluster.options().duplicated_permille = 300;
    if (!settled([&](Done done) { admin.TruncateTable(table, true, {"me", {}}, std::move(done)); }))
      return fmt::format("seed {}: {}", seed, master.Unfinished());
    const auto row = cluster.meta().tables().find(table);
    const auto known = master.logic().tables.Get(table);
    if (row == cluster.meta().tables().end() || !known || row->second.directory != known->directory)
      return fmt::format("seed {}: the table is in two directories", seed);
    if (master.logic().regions.OfTable(table).size() != 2) return fmt::format("seed {}: a region is lost", seed);
    for (const RegionNode& node : master.logic().regions.OfTable(table)) {
      if (!cluster.meta().regions().contains(node.encoded)) return fmt::format("seed {}: a region without a row", seed);
    }
  }
  return "";
}

TEST_F(TruncateTest, MetaNeverHasAPart) {
  GivenADisabledTable(3);
  ExpectNoPartInMeta();
}

TEST_F(TruncateTest, NobodyEndsItInItsCommit) {
  GivenADisabledTable(3);
  EXPECT_NE(BypassInTheCommit().find("change of hbase:meta may be in progress"), std::string::npos);
  ExpectTruncated(1);
}

TEST_F(TruncateTest, LostAnswersOfTheCommitAreReadBack) { EXPECT_EQ(TruncateOverABadWire(), ""); }

#if defined(RATCHET_MUTANTS)
TEST_F(TruncateTest, AssumingThatACommitWasAppliedIsNoticed) {
  ExpectKilled(
      "master.assume_commit", [&] { return TruncateOverABadWire(); }, "a region is lost");
}
TEST_F(TruncateTest, EndingItInItsCommitIsNoticed) {
  GivenADisabledTable(3);
  ExpectKilled(
      "master.bypass_commit", [&] { static_cast<void>(BypassInTheCommit()); }, "the table is in two directories");
}
// S40, S41: the test notices a partial commit when its rows arrive one by one.
TEST_F(TruncateTest, APartInMetaIsNoticed) {
  GivenADisabledTable(3);
  ExpectKilled(
      "meta.commit_row_by_row", [&] { ExpectNoPartInMeta(); }, "rows of two tables");
}
#endif

}  // namespace
}  // namespace ratchet::master
