// S41 (atomic conditional commit), on a network that loses requests and answers and duplicates requests: a commit is
// applied once, wholly or not at all.
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

MetaEdit RowOfNoTable(MetaEdit::Kind kind, std::uint64_t transition, const std::string& start) {
  MetaEdit edit;
  edit.kind = kind;
  edit.region.region.table = TableName("default", "apart");
  edit.region.region.start_key = start;
  edit.region.region.region_id = 7;
  edit.region.state = RegionState::kSplit;
  edit.region.transition = transition;
  return edit;
}

TEST(CommitsTest, LostAnswersAndDuplicatesChangeNothing) {
  using Kind = MetaEdit::Kind;
  int applied = 0;
  int repeated = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sim::SimOptions options;
    options.seed = seed;
    options.lost_permille = 250;
    options.duplicated_permille = 400;
    sim::SimCluster cluster(options);
    cluster.Boot(2);
    const auto rows = [&cluster] { return cluster.meta().regions().size(); };
    const std::size_t before = rows();
    ASSERT_TRUE(cluster.meta().Apply(RowOfNoTable(Kind::kCreateRegion, 9, "a")).ok());
    MetaCommit commit;
    commit.edits = {RowOfNoTable(Kind::kDeleteRegion, 20, "a"), RowOfNoTable(Kind::kCreateRegion, 21, "b")};
    commit.expected = {{RowOfNoTable(Kind::kUpdateRegion, 9, "a"), false}, {commit.edits[1], true}};
    std::optional<Result<CommitOutcome>> outcome;
    for (int sent = 0; sent < 100 && (!outcome || !outcome->ok()); ++sent) {
      outcome.reset();
      repeated += sent > 0 ? 1 : 0;
      cluster.master().meta_table().Commit(commit, [&outcome](Result<CommitOutcome> result) { outcome = result; });
      ASSERT_TRUE(cluster.RunUntil([&outcome] { return outcome.has_value(); })) << "seed " << seed;
      EXPECT_EQ(rows(), before + 1) << "seed " << seed << ": one of the two rows, never both or none";
    }
    ASSERT_TRUE(outcome->ok()) << "seed " << seed;
    applied += **outcome == CommitOutcome::kApplied ? 1 : 0;
    ASSERT_TRUE(cluster.meta().Apply(RowOfNoTable(Kind::kDeleteRegion, 30, "b")).ok());
    (void)cluster.RunFor(Millis(4'000));  // late duplicates
    EXPECT_EQ(rows(), before) << "seed " << seed << ": a late duplicate brought a row back";
  }
  EXPECT_EQ(applied, 20);
  EXPECT_GT(repeated, 0) << "no answer was lost";
}

}  // namespace
}  // namespace ratchet::master
